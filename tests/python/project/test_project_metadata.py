"""Metadata that depends on where the repository is: URLs and a README that can be read elsewhere, and nothing if nobody says where."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
spec = importlib.util.spec_from_file_location("project_metadata", ROOT / "packaging" / "project_metadata.py")
metadata = importlib.util.module_from_spec(spec)
spec.loader.exec_module(metadata)
PROJECT = {"version": "0.1.0"}
TAG = "https://github.com/an-owner/a.name/blob/v0.1.0"


def test_with_a_repository_links_and_pictures_are_absolute(monkeypatch):
    monkeypatch.setenv("GITHUB_REPOSITORY", "an-owner/a.name")
    made = metadata.dynamic_metadata({}, PROJECT)
    assert made["urls"]["Changelog"] == f"{TAG}/CHANGELOG.md"
    text = made["readme"]["text"]
    assert f"]({TAG}/docs/install.md)" in text
    assert "![The report of a training run" in text
    assert "](https://github.com/an-owner/a.name/raw/v0.1.0/docs/images/view-overview.webp)" in text
    assert not [target for _, _, target in metadata.LINK.findall(metadata.FENCE.sub("", text)) if not target.startswith("https:")]


def test_without_one_nothing_is_invented(monkeypatch):
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    made = metadata.dynamic_metadata({}, PROJECT)
    assert made["urls"] == {}
    assert made["readme"]["text"] == (ROOT / "README.md").read_text()
    assert "email" not in made["authors"][0]


def test_code_other_hosts_and_folders():
    page = "[a](x.md#b) [![p](i.png)](docs) [c](#c) [d](mailto:d@e)\n```\n[e](e.md)\n```\n[f](f.md)"
    page = metadata.readme(page, "an-owner/a.name", "0.1.0")
    tree, raw = TAG.replace("blob", "tree"), TAG.replace("blob", "raw")
    assert page == f"[a]({TAG}/x.md#b) [![p]({raw}/i.png)]({tree}/docs) [c](#c) [d](mailto:d@e)\n```\n[e](e.md)\n```\n[f]({TAG}/f.md)"


def test_a_wheel_of_the_source_distribution_says_the_same(monkeypatch, tmp_path):
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    monkeypatch.setattr(metadata, "ROOT", tmp_path)
    (tmp_path / "PKG-INFO").write_text("Name: gpu-profile\nProject-URL: Repository, https://github.com/an-owner/a.name\n\nText\n")
    assert metadata.repository() == "an-owner/a.name"


@pytest.mark.parametrize("name", ["owner", "owner/name/x", "owner/na me", "-o/x"])
def test_another_form_is_refused(monkeypatch, name):
    monkeypatch.setenv("GITHUB_REPOSITORY", name)
    with pytest.raises(ValueError, match="OWNER/NAME"):
        metadata.repository()
