import pytest

from orchestrator.images.steering import left_out, told


@pytest.mark.parametrize(
    "name",
    [
        "LD_PRELOAD",
        "LD_AUDIT",
        "LD_DEBUG",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "PYTHONHOME",
        "PYTHONINSPECT",
        "PYTEST_ADDOPTS",
        "BASH_ENV",
        "ENV",
        "PROMPT_COMMAND",
        "GCONV_PATH",
        "GLIBC_TUNABLES",
        "HOME",
        "TMPDIR",
        "CUDA_VISIBLE_DEVICES",
        "NVIDIA_VISIBLE_DEVICES",
        "http_proxy",
        "TORCHINDUCTOR_CACHE_DIR",
        "TORCH_EXTENSIONS_DIR",
        "TRITON_CACHE_DIR",
        "CUDA_CACHE_PATH",
        "TORCH_HOME",
        "XDG_CACHE_HOME",
        "TORCHMATRIX_FAULT",
        "BASH_FUNC_python%%",
        "a.b",
        "é",
    ],
)
def test_what_steers_a_run_is_left_out(name):
    assert left_out({name: "x"}) == (name,)


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "LANG",
        "LD_LIBRARY_PATH",
        "CUDA_HOME",
        "NVIDIA_REQUIRE_CUDA",
        "NCCL_VERSION",
        "OMP_NUM_THREADS",
        "TORCH_CUDA_ARCH_LIST",
        "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
        "PYTORCH_VERSION",
        "OPAL_PREFIX",
    ],
)
def test_what_production_reads_stays(name):
    stays = name != "PYTORCH_VERSION" or not name.startswith("PYTHON")
    assert (left_out({name: "x"}) == ()) is stays


def test_a_variable_without_a_name_is_nobodys():
    assert left_out({"": "x"}) == ()


def test_names_are_told_and_of_values_the_library_path_alone():
    lines = told(
        {"LD_PRELOAD": "secret", "LD_LIBRARY_PATH": "/a:/b", "TOKEN": "hunter2", "PATH": "/bin", "LC_ALL": "C"}
    )

    assert lines == (
        "variables of the image that are left out: LD_PRELOAD",
        "the image's LD_LIBRARY_PATH is kept: /a:/b",
        "variables of the image that are kept: TOKEN",
    )
    assert told({"PATH": "/bin", "LANG": "C"}) == ()


def test_names_are_text_that_we_did_not_write():
    (line,) = told({"A\x1b[31m\nB": "x"})

    assert line == "variables of the image that are left out: A B"
    assert len(told({f"N{number}": "" for number in range(500)})[0]) < 500
