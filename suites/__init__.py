"""The smoke suite: does this PyTorch, on this machine, compute right, and how fast?

It needs torch and pytest and nothing else, runs anywhere alone, and leaves a bundle: a folder of files whose formats
are the schemas that torchmatrix reads. It runs on torch 1.13 and Python 3.9 up to the newest of both, inside images
that we did not build, from a read-only mount: hence no other import than the standard library, torch and pytest.
"""
