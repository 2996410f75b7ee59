"""What AMD's and Intel's drivers tell, replayed from public outputs and from the files that the kernel documents."""

from pathlib import Path

import pytest

from suites.devices import sysfs
from suites.throttle import harmful

DATA = Path(__file__).parents[2] / "data" / "devices"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("amd-rx7900xtx-mclk.txt", 96.0), ("amd-picasso-mclk.txt", 933.0), ("amd-ras-count.txt", None)],
)
def test_the_clock_with_the_star(name: str, expected: float | None) -> None:
    assert sysfs.dpm_mhz((DATA / name).read_text()) == expected


def test_a_sleeping_clock_has_a_letter() -> None:
    assert sysfs.dpm_mhz("S: 132Mhz *\n0: 500Mhz\n1: 2100Mhz\n") == 132.0  # amdgpu, smu_cmn.c


def test_counted_errors() -> None:
    assert sysfs.ras_counts((DATA / "amd-ras-count.txt").read_text()) == {"ue": 0, "ce": 1}
    assert sysfs.ras_counts("Input/output error") == {}


@pytest.mark.parametrize(("text", "expected"), [("45000\n", 45.0), ("N/A", None), ("", None), ("-5000", -5.0)])
def test_a_number_in_thousandths(text: str, expected: float | None) -> None:
    assert sysfs.number(text, 1e-3) == expected


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_an_amd_device(tmp_path: Path) -> None:
    device = tmp_path / "bus" / "pci" / "devices" / "0000:03:00.0"
    write(
        device,
        pp_dpm_sclk=(DATA / "amd-rx7900xtx-mclk.txt").read_text(),
        mem_info_vram_total="1000",
        mem_info_vram_used="400",
        vbios_version="113-D0500100_104\n",
        current_compute_partition="CPX\n",
        hwmon__hwmon3__temp1_input="40000",
        hwmon__hwmon3__temp2_input="41000",
        hwmon__hwmon3__temp2_label="junction\n",
        hwmon__hwmon3__power1_average="35000000",
        ras__umc_err_count=(DATA / "amd-ras-count.txt").read_text(),
        ras__gfx_err_count="ue: 2\nce: 0\n",
    )
    folder = sysfs.device_folder("0000:03:00.0", "0x1002", tmp_path)
    assert sysfs.amd_conditions(folder) == {
        "clock_mhz": 96.0,
        "temperature_c": 41.0,
        "power_w": 35.0,
        "throttle": None,
    }
    assert sysfs.amd_counters(folder) == {"uncorrectable errors": 2, "correctable errors": 1}
    assert (sysfs.amd_free(folder), sysfs.amd_firmware(folder)) == (600, "113-D0500100_104")
    assert sysfs.amd_partition(folder) == "CPX"


def test_intel_by_its_newer_driver(tmp_path: Path) -> None:
    # Names and forms as drivers/gpu/drm/xe/xe_gt_throttle.c @ 191db84b prints them (%u); of the sensors as
    # Documentation/ABI/testing/sysfs-driver-intel-xe-hwmon says: temp2 the package, temp3 the memory, thousandths
    write(
        tmp_path,
        tile0__gt0__freq0__act_freq="2400\n",
        tile0__gt1__freq0__act_freq="0\n",
        tile0__gt0__freq0__throttle__status="1",
        tile0__gt0__freq0__throttle__reason_pl1="1\n",
        tile0__gt0__freq0__throttle__reason_thermal="0\n",
        hwmon__hwmon1__temp2_input="51000",
        hwmon__hwmon1__temp3_input="58000",
    )
    found = sysfs.intel_conditions(tmp_path)
    assert found == {"clock_mhz": 2400.0, "temperature_c": 58.0, "power_w": None, "throttle": ["power limit PL1"]}
    assert harmful(found["throttle"]) == []


def test_intel_by_its_older_driver(tmp_path: Path) -> None:
    # drivers/gpu/drm/i915/gt/intel_gt_sysfs_pm.c: rps_act_freq_mhz and throttle_reason_*, %u
    write(
        tmp_path,
        drm__card0__gt__gt0__rps_act_freq_mhz="1550",
        drm__card0__gt__gt0__throttle_reason_status="1",
        drm__card0__gt__gt0__throttle_reason_thermal="1",
        drm__card0__gt__gt0__throttle_reason_pl2="0",
    )
    found = sysfs.intel_conditions(tmp_path)
    assert (found["clock_mhz"], found["throttle"]) == (1550.0, ["thermal slowdown"])
    assert harmful(found["throttle"]) == ["thermal slowdown"]


def test_nothing_is_there(tmp_path: Path) -> None:
    assert sysfs.device_folder("0000:03:00.0", "0x1002", tmp_path) is None
    assert sysfs.device_folder("", "0x1002", tmp_path) is None
    assert set(sysfs.amd_conditions(None).values()) == set(sysfs.intel_conditions(None).values()) == {None}
    assert set(sysfs.intel_conditions(tmp_path).values()) == {None}
    assert (sysfs.amd_counters(None), sysfs.amd_free(None), sysfs.amd_free(tmp_path)) == ({}, None, None)


def test_without_an_address_only_a_lone_card_is_the_one(tmp_path: Path) -> None:
    write(tmp_path, class__drm__card0__device__vendor="0x8086\n", class__drm__card1__device__vendor="0x1002\n")
    assert sysfs.device_folder("", "0x1002", tmp_path) == tmp_path / "class" / "drm" / "card1" / "device"
    write(tmp_path, class__drm__card2__device__vendor="0x1002\n")
    assert sysfs.device_folder("", "0x1002", tmp_path) is None
