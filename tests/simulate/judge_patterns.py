#!/usr/bin/env python3
"""Draws programs that have a pattern, or only look like it, and compares the findings with what was drawn.

    tests/simulate/judge_patterns.py BINARY [--programs 300] [--seed SEED] [--show]

Each program is a model of random size with random pieces of real kernel names; half of them record the shapes of their products. For each rule the table says how
often it fired on programs that have its pattern (where it takes 6 % of the time or more), and how often on others. A rule with a predicted gain is compared with the same
program run again without its pattern, by kernels whose speed is drawn: how far its central value is from that gain (the median, in percent of a step), and how often
its range of the step's time holds it. Of the others, how often the share was within a tenth of the time of the kernels that were drawn for it. Status 1 if a rule
fires without its pattern, misses more than one program in a hundred, or if fewer than 90 % of the ranges hold.
"""

import argparse
import collections
import dataclasses
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from families import MS, US  # noqa: E402
from kineto import trace_of  # noqa: E402
from machine import Kernel, Machine, Recorder  # noqa: E402

TYPES = ("c10::BFloat16", "c10::Half", "float")
LAMBDA = "{lambda()#1}::operator()() const::{lambda(float)#1}"


PEAK = 989e12  # of 16-bit products, in FLOP per second: an H100


def kernel(name, ns, bound="memory"):
    return Kernel(name, round(ns), bound, 0.9, 0.8, (20_000, 1, 1), (128, 1, 1), 32, 0)


class Model:
    """A step as a list of (kernel, rule that it counts for), from the size of one case."""

    def __init__(self, chance):
        self.chance = chance
        self.type = chance.choice(TYPES[:2])
        self.layers = chance.randint(2, 10)
        self.unit = chance.uniform(20, 120) * US
        self.shaped = chance.random() < 0.5
        # Percent of the peak of 16-bit products that aligned ones reach, and the speed of the kernels that replace a pattern.
        self.reached = chance.uniform(40, 70)
        self.scores = chance.uniform(20, 50)  # percent of the peak that products of an unfused attention reach: they read or write the scores
        self.fused = self.scores / chance.uniform(30, 80)  # of their time: a kernel for attention, at a part of the peak
        self.padded = chance.uniform(0.25, 0.85)  # of the time of an odd product
        self.remaining = chance.uniform(0, 0.4)  # of the conversions of layout, if there is one layout
        self.start, self.rate = chance.uniform(12, 35) * US, chance.uniform(100, 300)  # of collectives, which wait for no rank: ns, bytes per ns
        self.halved = chance.uniform(0.5, 0.85)  # of the time of a convolution in TF32
        self.updated = chance.uniform(0.12, 0.4)  # of the time of an update tensor by tensor

    def shapes(self, ns, pct, odd):
        """Inputs of a product that reaches this part of the peak in this time."""
        if not self.shaped:
            return None
        inner = round(ns * 1e-9 * pct / 100 * PEAK / (2 * 4096 * 4096))
        inner = max(8, inner - inner % 8) + odd
        return {"Input Dims": [[4096, inner], [inner, 4096]], "Input type": [self.type, self.type]}

    def product(self, scale=3.0, reached=None):
        name = self.chance.choice([
            "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
            "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT",
            "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8>(cutlass_80_tensorop_bf16_s16816gemm::Params)",
            "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"])
        made = kernel(name, self.unit * self.chance.uniform(0.7, 1.3) * scale, "compute")
        return dataclasses.replace(made, message=self.shapes(made.alone, reached or self.reached, 0))

    def odd_product(self):
        arch, instruction = self.chance.choice([(75, "s1688"), (80, "s16816")])
        kind = {"c10::BFloat16": "bf16", "c10::Half": "f16"}[self.type]
        align = self.chance.choice([1, 2, 4])
        made = kernel(f"void cutlass::Kernel<cutlass_{arch}_tensorop_{kind}_{instruction}gemm_{kind}_128x128_nn_align{align}>(cutlass_{arch}::Params)",
                      self.unit * self.chance.uniform(2, 5), "compute")
        return dataclasses.replace(made, message=self.shapes(made.alone, self.reached * self.padded * self.chance.uniform(0.9, 1.1), 1))

    def convolution(self, half):
        """In TF32, or in bf16."""
        names = ["sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x32_stage4_warpsize2x2x1_g1_tensor16x8x16_kernel_cudnn",
                 "cutlass_tensorop_bf16_s16816fprop_optimized_bf16_128x128_32x4_nhwc_align8"] if half else [
                 "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16_stage4_warpsize2x2x1_g1_tensor16x8x8_kernel_cudnn",
                 "cutlass_tensorop_s1688fprop_optimized_tf32_128x128_16x4_nhwc_align4"]
        return kernel(self.chance.choice(names), self.unit * self.chance.uniform(2, 6), "compute")

    def collective(self, size, type="Float"):
        name = "AllReduce_Sum_f32_RING_LL" if type == "Float" else "AllReduce_Sum_bf16_RING_LL"
        elements = round(size) // (4 if type == "Float" else 2)
        message = {"Collective name": "allreduce", "In msg nelems": elements, "Out msg nelems": elements, "dtype": type, "Group size": 8, "Process Group Name": "0"}
        return Kernel(f"ncclDevKernel_{name}(ncclDevKernelArgsStorage<4096ul>)", round(self.start + 2 * size / self.rate), "communication", 0.15, 0.1,
                      (24, 1, 1), (544, 1, 1), 96, 0, True, message)

    def elementwise(self, scale=1.0):
        what = self.chance.choice([f"CUDAFunctor_add<{self.type}>", "AUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >",
                                   f"GeluCUDAKernelImpl(at::TensorIteratorBase&)::{LAMBDA}", f"masked_fill_kernel<bool>::{LAMBDA}"])
        form = self.chance.choice(["vectorized_elementwise_kernel<4", "elementwise_kernel<128, 2", "unrolled_elementwise_kernel<4"])
        return kernel(f"void at::native::{form}, at::native::{what}, at::detail::Array<char*, 3> >(int, at::native::{what})", self.unit * scale)

    def softmax(self, scale=1.0, log=False):
        flag = "true" if log else "false"
        name = self.chance.choice([
            f"void (anonymous namespace)::softmax_warp_forward<{self.type}, {self.type}, float, 10, {flag}, false>({self.type}*, {self.type} const*, int, int, int)",
            f"void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, {self.type}, float, {self.type}, at::native::(anonymous namespace)::{'Log' if log else ''}SoftMaxForwardEpilogue>({self.type}*)",
            f"triton_per_fused__{'log_' if log else ''}softmax_{self.chance.randint(0, 40)}"])
        return kernel(name, self.unit * scale)

    def cast(self, scale=1.0):
        name = self.chance.choice([
            f"void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{LAMBDA}, at::detail::Array<char*, 2>, 4, TrivialOffsetCalculator<1, unsigned int>, at::native::memory::LoadWithCast<1>, at::native::memory::StoreWithCast<1> >(int)",
            "void at::native::vectorized_elementwise_kernel<4, at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, at::detail::Array<char*, 2> >(int)"])
        return kernel(name, self.unit * scale)

    def attention(self, fused):
        """(kernel, rule) of one layer's attention."""
        if fused:
            name = self.chance.choice(["void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::bfloat16_t> >(Flash_fwd_params)",
                                       "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel)",
                                       "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_cga1x1x1_kernel0_0"])
            return [(kernel(name, 4 * self.unit, "compute"), None)]
        before = [self.elementwise() for _ in range(self.chance.randint(0, 3))]
        after = [self.elementwise() for _ in range(self.chance.randint(0, 2))]
        if self.chance.random() < 0.3:  # a softmax in FP32
            before.append(self.cast())
            after.insert(0, self.cast())
        middle = [*before, self.softmax(self.chance.uniform(0.8, 2)), *after]
        scores, values = (self.product(reached=self.scores) for _ in range(2))
        return [(scores, None), *((each, "unfused-attention") for each in middle), (values, None)]

    def block(self, attention=(), products=None, casts=False):
        make = products or self.product
        tag = "slow-products" if products else None
        steps = []
        for _ in range(3):
            if casts:
                steps.append((self.cast(0.8), "type-casts"))
            steps.append((make(), tag))
        norm = kernel("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int)", self.unit)
        return [(norm, None), *attention, *steps, (self.elementwise(), None)]


def update(model, tensors, foreach):
    """An optimizer's kernels; None for those of foreach."""
    if foreach:
        name = "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::TensorListMetadata<4>, at::native::(anonymous namespace)::PointwiseOpListFunctor>(int)"
        return [(kernel(name, model.unit * 3), None) for _ in range(12)]
    return [(kernel(model.elementwise().name, model.unit * 0.3), "unfused-optimizer") for _ in range(tensors * 10)]


KINDS = {
    # kind: (pattern, rule) or a program that only looks like it (None)
    "unfused attention": "unfused-attention", "fused attention": None, "softmax as last layer": None, "router of experts": None, "loss": None,
    "odd sizes": "slow-products", "aligned": None,
    "casts of weights": "type-casts", "copies without cast": None,
    "optimizer by tensor": "unfused-optimizer", "foreach optimizer": None,
    "compiles again": "recompilation", "compiles once": None,
    "convolutions in TF32": "slow-convolution", "convolutions in bf16": None,
    "conversions": "layout-conversion", "one layout": None,
    "gradient by gradient": "small-collectives", "tensor parallelism": None, "buckets": None,
    "gradients in FP32": "fp32-gradients", "gradients in bf16": None,
    "gradient of an index": "scattered-updates", "gathers": None,
}


def step_of(kind, model):
    """The kernels of a step with their rules, and those of its optimizer."""
    chance = model.chance
    attention = model.attention(kind != "unfused attention") if kind in ("unfused attention", "fused attention") else []
    products = model.odd_product if kind == "odd sizes" else None
    aligned = [(model.product(), None) for _ in range(chance.choice([0, model.layers]))] if products else []
    kernels = [each for _ in range(model.layers) for each in model.block(attention, products, kind == "casts of weights")] + aligned
    if kind == "gradient by gradient":
        divide = chance.random() < 0.5
        for _ in range(chance.randint(12, 60) + 8 * model.layers):
            kernels.append((model.collective(chance.uniform(500, 200_000)), "small-collectives"))
            if divide:
                kernels.append((dataclasses.replace(model.elementwise(), alone=2_000), None))
    if kind == "tensor parallelism":
        kernels = [each for pair in kernels for each in ((pair, (model.collective(chance.uniform(5_000, 200_000), "BFloat16"), None)) if "gemm" in pair[0].name else (pair,))]
    if kind in ("gradients in FP32", "gradients in bf16", "buckets"):
        type = "Float" if "FP32" in kind else "BFloat16"
        total = model.rate * model.unit * model.layers * chance.uniform(3, 12)
        count = chance.randint(10, 20) if kind == "buckets" else chance.randint(1, 6)
        kernels += [(model.collective(max(4e6, total / count), type), "fp32-gradients" if "FP32" in kind else None) for _ in range(count)]
    if "convolutions" in kind:
        kernels += [(model.convolution("bf16" in kind), "slow-convolution" if "TF32" in kind else None) for _ in range(3 * model.layers)]
    if kind in ("conversions", "one layout"):
        for _ in range(model.layers):
            kernels.append((model.convolution(True), None))
            if kind == "conversions":
                name = chance.choice(["void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, (cudnnKernelDataType_t)2>(int)",
                                      "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)> >(int)"])
                kernels.append((kernel(name, model.unit * chance.uniform(0.5, 3)), "layout-conversion"))
    if kind == "softmax as last layer":
        kernels += [(model.product(), None), (model.softmax(0.02), None)]
    if kind == "router of experts":
        kernels += [each for _ in range(model.layers) for each in (
            (model.product(0.3), None), (model.softmax(), None), (kernel("void at::native::sbtopk::gatherTopK<float, unsigned int, 2, false>(int)", model.unit), None),
            (model.product(), None))]
    if kind == "loss":
        kernels += [(model.product(), None), (model.softmax(6, log=True), None),
                    (kernel("void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>(float*)", model.unit), None)]
    if kind == "copies without cast":
        plain = f"void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{LAMBDA}, at::detail::Array<char*, 2>, 4, TrivialOffsetCalculator<1, unsigned int>, at::native::memory::LoadWithoutCast, at::native::memory::StoreWithoutCast>(int)"
        kernels += [(kernel(plain, model.unit), None) for _ in range(3 * model.layers)]
    if kind == "gradient of an index":
        name = chance.choice(["void at::native::indexing_backward_kernel<c10::BFloat16, 4>(long const*)", "void at::native::(anonymous namespace)::embedding_backward_feature_kernel<float, float, long>(long const*)",
                              "void at::native::_scatter_gather_elementwise_kernel<128, 4, at::native::_cuda_scatter_gather_internal_kernel<true, float>::{lambda(int)#1}, at::native::ReduceAdd>(int)"])
        kernels += [(kernel(name, model.unit * 2), "scattered-updates") for _ in range(model.layers)]
    if kind == "gathers":
        kernels += [(kernel("void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel>(int)", model.unit * 2), None) for _ in range(model.layers)]
    tail = update(model, chance.randint(8, 20), kind == "foreach optimizer") if "optimizer" in kind else []
    return kernels, tail


def operator(host, name, each, after=()):
    """An operator that launches one kernel, with the shapes of its inputs."""

    def body():
        yield from host.work(3 * US)
        yield from host.launch(dataclasses.replace(each, message=None) if each.message else each, after=after)

    return host.span("op", "aten::mm" if each.message else name, body(), **(each.message or {}))


def without(rule, model, kernels):
    """The kernels of a step, or of an update, with the pattern of a rule replaced by what an expert would run."""
    factor = {"slow-products": model.padded, "slow-convolution": model.halved}.get(rule)
    if factor:
        return [(dataclasses.replace(each, alone=round(each.alone * factor)) if tag == rule else each, tag) for each, tag in kernels]
    if rule == "fp32-gradients":
        return [(dataclasses.replace(each, alone=round((each.alone + model.start) / 2)) if tag == rule else each, tag) for each, tag in kernels]
    if rule == "small-collectives":
        size = sum(4 * each.message["In msg nelems"] for each, tag in kernels if tag == rule)
        return [pair for pair in kernels if pair[1] != rule] + [(model.collective(size), None)] * any(tag == rule for _, tag in kernels)
    if rule == "layout-conversion":
        tagged = [number for number, (_, tag) in enumerate(kernels) if tag == rule]
        gone = set(tagged[round(model.remaining * len(tagged)):])
        return [pair for number, pair in enumerate(kernels) if number not in gone]
    if rule == "unfused-optimizer" and any(tag == rule for _, tag in kernels):
        chunks = max(1, len(kernels) // 60)
        return [(dataclasses.replace(kernels[0][0], alone=round(model.updated * sum(each.alone for each, _ in kernels) / chunks)), None)] * chunks
    if rule != "unfused-attention":
        return kernels
    found, at = [], 0
    while at < len(kernels):
        if kernels[at][1] != rule:
            found.append(kernels[at])
            at += 1
            continue
        end = next(number for number in range(at, len(kernels)) if kernels[number][1] != rule)
        before, after = found.pop()[0], kernels[end][0]
        found.append((dataclasses.replace(before, name="fused", alone=round(model.fused * (before.alone + after.alone)), message=None), None))
        at = end + 1
    return found


def run(kind, seed, quiet=False, fixed=None):
    """(machine, kernels of a step, ends of steps in ns): recorded, or `quiet`, and then perhaps with the pattern of a rule replaced."""
    chance = random.Random(seed)
    model = Model(chance)
    kernels, tail = step_of(kind, model)
    kernels, tail = without(fixed, model, kernels), without(fixed, model, tail)
    machine = Machine(random.Random(chance.random()), Recorder(0, 0, 0, 0) if quiet else Recorder(), 0 if quiet else 0.03)
    compiles = {"compiles again": {2, 3, 5}, "compiles once": {0}}.get(kind, set())
    spent = chance.uniform(20, 200) * MS
    ends = []

    def main(host):
        for number in range(8):
            def step(number=number):
                if number in compiles:
                    yield from host.span("range", "_compile.compile_inner (dynamo_timed)", host.work(spent))
                reduced = None
                for each, _ in kernels:
                    if each.collective:
                        reduced = yield from host.launch(each, 19, (host.machine.last[7].done,))
                    else:
                        yield from operator(host, "aten::op", each, (reduced.done,) if reduced else ())
                        reduced = None
                if tail:
                    def optimise():
                        for each, _ in tail:
                            yield from operator(host, "aten::mul_", each)
                    yield from host.span("range", "Optimizer.step#AdamW.step", optimise())
                yield from host.synchronise_device()
            yield from host.span("range", f"ProfilerStep#{number}", step())
            ends.append(host.now)

    machine.thread("main", main)
    machine.run()
    return machine, [*kernels, *tail], ends


def program(kind, seed):
    """(trace, share of the time of each rule's kernels in percent, {rule: (percent of a step that a run without its pattern saves, that run's step in ns)})"""
    machine, kernels, _ = run(kind, seed)
    names = collections.defaultdict(set)
    for each, rule in kernels:
        if rule:
            names[rule].add(each.name)
    spent_in = {rule: sum(done.end - done.start for done in machine.ops if done.kernel is not None and done.kernel.name in of) for rule, of in names.items()}
    window = max(done.end for done in machine.ops) - min(done.start for done in machine.ops)
    gains = {}
    if KINDS[kind] in PRICED:
        before, after = (run(kind, seed, True, fixed)[2] for fixed in (None, KINDS[kind]))
        gains[KINDS[kind]] = 100 * (1 - (after[-1] - after[0]) / (before[-1] - before[0])), (after[-1] - after[0]) / (len(after) - 1)
    return trace_of(machine), {rule: 100 * ns / window for rule, ns in spent_in.items()}, gains


PRICED = ("fp32-gradients", "small-collectives", "layout-conversion", "slow-convolution", "slow-products", "unfused-attention", "unfused-optimizer")
LEAST = {"slow-convolution": 11}  # percent of the time; of others 6
RULES = sorted({rule for rule in KINDS.values() if rule})


def judge(binary, kind, seed):
    text, shares, gains = program(kind, seed)
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(text.encode())
        file.flush()
        done = subprocess.run([binary, "report", file.name, "--format", "json"], capture_output=True, text=True, check=True)
    return {each["id"]: each for each in json.loads(done.stdout)["findings"]}, shares, gains


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", type=Path)
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--seed", default="held")
    parser.add_argument("--show", action="store_true", help="print each program that is judged wrongly")
    options = parser.parse_args()
    table, errors = {rule: collections.Counter() for rule in RULES}, collections.defaultdict(list)
    kinds = list(KINDS)
    for number in range(options.programs):
        kind = kinds[number % len(kinds)]
        found, shares, gains = judge(options.binary.resolve(), kind, f"{options.seed}/{number}")
        for rule in RULES:
            has = KINDS[kind] == rule and (rule not in shares or shares[rule] >= LEAST.get(rule, 6))
            may = has or (rule in shares and shares[rule] > 0)
            fired = rule in found
            counts = table[rule]
            counts["has"] += has
            counts["lacks"] += not may
            counts["found"] += has and fired
            counts["false alarms"] += fired and not may
            predicted = found[rule].get("predicted") if fired else None
            if has and predicted:
                counts["ranges"] += 1
                gain, step = gains[rule]
                held = predicted["step_low_ns"] <= step <= predicted["step_high_ns"]
                counts["held"] += held
                errors[rule].append(abs(predicted["gain_pct"] - gain))
                if options.show and not held:
                    print(f"{number} {kind}: {rule} predicted {predicted['gain_pct']:.1f} ({predicted['gain_low_pct']:.1f} to {predicted['gain_high_pct']:.1f}), true {gain:.1f}")
            elif has and fired and rule == "small-collectives":  # whose share is what it would save
                counts["priced"] += 1
                counts["close"] += abs(found[rule]["share_pct"] - gains[rule][0]) <= max(1.0, 0.1 * gains[rule][0])
            elif has and fired and rule in shares and rule != "unfused-optimizer":  # which counts the pauses between its kernels too
                counts["priced"] += 1
                counts["close"] += abs(found[rule]["share_pct"] - shares[rule]) <= max(1.0, 0.1 * shares[rule])
            if options.show and (has != fired if has or not may else False):
                print(f"{number} {kind}: {rule} {'missed' if has else 'fired'}; drawn {shares}, found {sorted(found)}")
    print(f"{'rule':22}{'has it':>8}{'found':>8}{'lacks it':>10}{'false alarms':>14}{'share within 10 %':>20}{'range holds step':>20}{'median error':>15}")
    for rule, counts in table.items():
        close = f"{counts['close']} of {counts['priced']}" if counts["priced"] else "–"
        print(f"{rule:22}{counts['has']:>8}{counts['found']:>8}{counts['lacks']:>10}{counts['false alarms']:>14}{close:>20}"
              + (f"{counts['held']:>13} of {counts['ranges']:>3}{statistics.median(errors[rule]):>13.1f} %" if errors[rule] else f"{'–':>20}{'–':>15}"))
    ranges, held = (sum(counts[what] for counts in table.values()) for what in ("ranges", "held"))
    return int(held < 0.9 * ranges or any(counts["false alarms"] or 100 * (counts["has"] - counts["found"]) > counts["has"] for counts in table.values()))


if __name__ == "__main__":
    sys.exit(main())
