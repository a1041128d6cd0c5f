import pickle
import threading

import pytest

from tirscript.diagnostics import TargetError
from tirscript.target import Target


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("llvm", "llvm"),
        ("llvm -num-cores=4 -mcpu=skylake", "llvm -mcpu=skylake -num-cores=4"),
        ("llvm --num-cores=4", "llvm -num-cores=4"),
        ("llvm -num_cores=4", "llvm -num-cores=4"),
        ("llvm -O0", "llvm -O=0"),
        ("llvm -opt-level=2", "llvm -O=2"),
        ("llvm -fast-math -mattr=+avx2,+fma", "llvm -fast-math -mattr=+avx2,+fma"),
        ("llvm -fast-math=0", "llvm"),
        ("llvm -fp-contract=off -math=scalar", "llvm -fp-contract=off -math=scalar"),
        ("python -checked=overflow", "python -checked=overflow"),
        ("cuda -arch=sm_90a -sim", "cuda -arch=sm_90a -sim"),
        ("cuda -host='llvm -mcpu=skylake'", "cuda -host='llvm -mcpu=skylake'"),
        ("opencl -schedule=default", "opencl -schedule=default"),
        ("metal", "metal"),
    ],
)
def test_text_is_canonical_and_parses_back(text, canonical):
    target = Target(text)
    assert str(target) == canonical
    assert Target(str(target)) == target
    assert Target(target.export()) == target
    assert hash(Target(canonical)) == hash(target)
    assert pickle.loads(pickle.dumps(target)) == target


def test_dict_and_tag():
    assert Target({"kind": "llvm", "mattr": ["+avx2", "+fma"], "O": 1}) == Target(
        "llvm -mattr=+avx2,+fma -O=1"
    )
    gpu = Target("nvidia/geforce-rtx-3070")
    assert (gpu.kind, gpu.arch, gpu.tag) == ("cuda", "sm_86", "nvidia/geforce-rtx-3070")
    assert gpu.get("max_threads_per_block") == 1024
    assert Target("nvidia/nvidia-h100 -sim").attrs["sim"] is True
    assert Target({"tag": "nvidia/nvidia-a100"}).arch == "sm_80"


def test_every_tag_constructs_and_parses_back():
    for tag in Target.list_tags():
        assert Target(str(Target(tag))) == Target(tag)


def test_kind_has_a_name_as_in_tvm():
    assert Target("cuda").kind.name == "cuda"
    assert Target("cuda").arch == "sm_80"
    assert Target("llvm").device_kind == "cpu"


def test_host():
    target = Target("cuda", host="llvm -O=1")
    assert target.host == Target("llvm -O=1")
    assert Target("cuda").with_host("llvm").host == Target("llvm")
    assert Target({"kind": "cuda", "host": {"kind": "llvm"}}).host == Target("llvm")
    with pytest.raises(TargetError, match="no host itself"):
        Target("cuda", host=Target("cuda", host="llvm"))


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        ("llvn", "unknown-target", "did you mean `llvm`?"),
        ("nvidia/geforce-rtx-307", "unknown-target", "nvidia/geforce-rtx-3070"),
        ("llvm -mcup=skylake", "unknown-option", "did you mean `mcpu`?"),
        ("llvm -arch=sm_80", "unknown-option", "has no option `arch`"),
        ("llvm -O=4", "option-value", "0 to 3"),
        ("llvm -num-cores=many", "option-value", "an integer"),
        ("llvm -num-cores", "option-value", "an integer"),
        ("llvm -math=fast", "option-value", "vector or scalar"),
        ("llvm -mcpu", "option-value", "a text"),
        ("cuda -arch=90", "option-value", "sm_80"),
        ("llvm -O=1 -O=2", "option-twice", "twice"),
        ("llvm mcpu=x", "target-syntax", "-key=value"),
        ("", "target-syntax", "starts with a kind"),
        ("-mcpu=x", "target-syntax", "starts with a kind"),
        ("llvm 'x", "target-syntax", "No closing quotation"),
        ({"mcpu": "x"}, "target-syntax", "`kind`"),
        ({"kind": "llvm", "checked": "maybe"}, "option-value", "true or false"),
        (3, "target-type", "int"),
    ],
)
def test_bad_targets_say_why(given, code, words):
    with pytest.raises(ValueError) as caught:
        Target(given)
    assert isinstance(caught.value, TargetError)
    assert caught.value.code == code
    assert words in str(caught.value)


def test_current_nests_and_belongs_to_the_thread():
    assert Target.current() is None
    with pytest.raises(TargetError):
        Target.current(allow_none=False)
    outer, inner = Target("llvm"), Target("cuda")
    with outer:
        with inner, inner:
            assert Target.current() is inner
        assert Target.current() is outer
        seen = []
        thread = threading.Thread(target=lambda: seen.append(Target.current()))
        thread.start()
        thread.join()
        assert seen == [None]
    assert Target.current() is None
