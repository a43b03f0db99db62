"""`serve --dcgm-names`: the same readings under the names, units and labels of dcgm-exporter."""

import re
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics_families
from prometheus_client.parser import text_string_to_metric_families
from test_serve import serve

# Column of a recorded series, its value, and DCGM's field with the value in its unit (DCGM's field identifiers; dcgm-exporter's default-counters.csv).
ROWS = [("util_gpu", 37, "DEV_GPU_UTIL", 37), ("util_mem", 12, "DEV_MEM_COPY_UTIL", 12), ("mem_used_mb", 1024, "DEV_FB_USED", 1024),
        ("mem_total_mb", 81559, "DEV_FB_TOTAL", 81559), ("power_w", 312.5, "DEV_POWER_USAGE", 312.5), ("energy_j", 3600, "DEV_TOTAL_ENERGY_CONSUMPTION", 3_600_000),
        ("temp_c", 55, "DEV_GPU_TEMP", 55), ("sm_clock_mhz", 1590, "DEV_SM_CLOCK", 1590), ("mem_clock_mhz", 2619, "DEV_MEM_CLOCK", 2619),
        ("ecc_corrected", 3, "DEV_ECC_SBE_VOL_TOTAL", 3), ("ecc_uncorrected", 1, "DEV_ECC_DBE_VOL_TOTAL", 1), ("gpm_sm_active", 62, "PROF_SM_ACTIVE", 0.62),
        ("gpm_sm_occupancy", 25, "PROF_SM_OCCUPANCY", 0.25), ("gpm_tensor", 40, "PROF_PIPE_TENSOR_ACTIVE", 0.4), ("gpm_fp64", 5, "PROF_PIPE_FP64_ACTIVE", 0.05),
        ("gpm_fp32", 15, "PROF_PIPE_FP32_ACTIVE", 0.15), ("gpm_fp16", 20, "PROF_PIPE_FP16_ACTIVE", 0.2), ("gpm_dram", 70, "PROF_DRAM_ACTIVE", 0.7),
        ("gpm_pcie_tx_mbps", 250, "PROF_PCIE_TX_BYTES", 250e6), ("gpm_pcie_rx_mbps", 500, "PROF_PCIE_RX_BYTES", 500e6),
        ("gpm_nvlink_tx_mbps", 125, "PROF_NVLINK_TX_BYTES", 125e6), ("gpm_nvlink_rx_mbps", 126, "PROF_NVLINK_RX_BYTES", 126e6)]
EXPECTED = pytest.approx({name: value for _, _, name, value in ROWS})
COUNTERS = {"DEV_TOTAL_ENERGY_CONSUMPTION", "DEV_ECC_SBE_VOL_TOTAL", "DEV_ECC_DBE_VOL_TOTAL"}


def fields(families):
    return {family.name.removeprefix("DCGM_FI_"): family for family in families if family.name.startswith("DCGM_FI_")}


def test_each_field_in_its_unit(program, tmp_path, monkeypatch):
    monkeypatch.setenv("NODE_NAME", 'node"7')
    series = tmp_path / "series.csv"
    values = ",".join(str(value) for _, value, _, _ in ROWS)
    series.write_text("time_s,device," + ",".join(column for column, _, _, _ in ROWS) + "".join(f"\n{second},0,{values}" for second in (0, 3600)) + "\n")
    with serve(program, "--backend", f"replay:{series}", "--dcgm-names") as server:
        found = fields(text_string_to_metric_families(server.ask()[2]))
        assert {name: family.samples[0].value for name, family in found.items()} == EXPECTED
        assert {name for name, family in found.items() if family.type == "counter"} == COUNTERS
        labels = found["DEV_GPU_UTIL"].samples[0].labels
        assert (set(labels), labels["gpu"], labels["device"], labels["hostname"]) == \
            ({"gpu", "UUID", "pci_bus_id", "device", "modelName", "hostname"}, "0", "nvidia0", 'node"7')
        page = server.ask(headers={"Accept": "application/openmetrics-text"})[2]
        assert {name: family.samples[0].value for name, family in fields(open_metrics_families(page)).items()} == EXPECTED
        assert server.ask("/health")[:1] == server.ask("/healthz")[:1] == (200,)
    with serve(program, "--backend", f"replay:{series}") as server:
        assert "DCGM" not in server.ask()[2]


def test_what_is_not_measured_is_absent(program, tmp_path):
    series = tmp_path / "series.csv"
    series.write_text("time_s,device,util_gpu\n0,0,5\n3600,0,6\n")
    with serve(program, "--backend", f"replay:{series}", "--dcgm-names") as server:
        assert set(fields(text_string_to_metric_families(server.ask()[2]))) == {"DEV_GPU_UTIL"}


def test_the_page_names_each_field():
    page = (Path(__file__).parents[3] / "docs" / "reference" / "commands" / "serve.md").read_text()
    served = {f"DCGM_FI_{name}" for row in re.findall(r"^\| (`DCGM_FI_.*?) \|", page, re.M) for name in re.findall(r"`DCGM_FI_(\w+)`", row)}
    assert served == {f"DCGM_FI_{name}" for _, _, name, _ in ROWS}
