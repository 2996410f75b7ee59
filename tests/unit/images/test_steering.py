import pytest

from orchestrator.images.steering import left_out, told


@pytest.mark.parametrize(
    "name",
    [
        "LD_PRELOAD",
        "ATEN_CPU_CAPABILITY",
        "LRU_CACHE_CAPACITY",
        "TP_SOCKET_IFNAME",
        "DISABLE_LLVM_OPT",
        "GOTO_NUM_THREADS",
        "LD_AUDIT",
        "LD_DEBUG",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "PYTHONHOME",
        "PYTHONINSPECT",
        "PYTHON_VERSION_FILE",
        "OPENSSL_CONF",
        "OPENSSL_ENGINES",
        "MALLOC_TRACE",
        "CUDA_INJECTION64_PATH",
        "NVTX_INJECTION64_PATH",
        "HSA_TOOLS_LIB",
        "HSA_OVERRIDE_GFX_VERSION",
        "ROCPROFILER_METRICS_PATH",
        "INTEL_LIBITTNOTIFY64",
        "OMP_TOOL_LIBRARIES",
        "OMP_NUM_THREADS",
        "KMP_AFFINITY",
        "MKL_CBWR",
        "ONEDNN_MAX_CPU_ISA",
        "TORCHDYNAMO_DISABLE",
        "TORCH_COMPILE_DISABLE",
        "TORCHINDUCTOR_FREEZING",
        "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
        "TORCH_CUDA_ARCH_LIST",
        "torchdynamo_disable",
        "PYTORCH_CUDA_ALLOC_CONF",
        "PYTORCH_TUNABLEOP_ENABLED",
        "TRITON_INTERPRET",
        "TRITON_PASS_PLUGIN_PATH",
        "NVIDIA_TF32_OVERRIDE",
        "CUBLAS_WORKSPACE_CONFIG",
        "CUDNN_LOGINFO_DBG",
        "CUDA_LAUNCH_BLOCKING",
        "NCCL_NET_PLUGIN",
        "MIOPEN_FIND_MODE",
        "HIP_LAUNCH_BLOCKING",
        "ZE_ENABLE_ALT_DRIVERS",
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
        "CUDA_VERSION",
        "NVIDIA_REQUIRE_CUDA",
        "NCCL_VERSION",
        "PYTHON_VERSION",
        "PYTORCH_VERSION",
        "TRITON_PTXAS_PATH",
        "ROCM_PATH",
        "MKLROOT",
        "OPAL_PREFIX",
        "LIBRARY_PATH",
        "CXX",
    ],
)
def test_how_production_finds_its_things_stays(name):
    assert left_out({name: "x"}) == ()


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


def test_of_very_many_the_rest_is_counted():
    (line,) = told({f"TORCH_{number:03}": "" for number in range(500)})

    assert line.endswith("TORCH_058, TORCH_059, and 440 more")
