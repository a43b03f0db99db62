#include "io/importers/spool/spool_annotations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "io/importers/autograd_range.h"

namespace gpuprof::inline importers {
namespace {

// Source: nvtxPayloadType_t of nvToolsExt.h.
std::optional<double> payload_of(std::uint16_t type, std::uint64_t bits) {
    auto as = [&](auto value) {
        std::memcpy(&value, &bits, sizeof value);
        return static_cast<double>(value);
    };
    std::optional<double> value;
    switch (type) {
        case 1: value = as(std::uint64_t{}); break;
        case 2: value = as(std::int64_t{}); break;
        case 3: value = as(double{}); break;
        case 4: value = as(std::uint32_t{}); break;
        case 5: value = as(std::int32_t{}); break;
        case 6: value = as(float{}); break;
        default: break;
    }
    return value && std::isfinite(*value) ? value : std::nullopt;
}

StringId named(const std::unordered_map<std::uint64_t, StringId>& names, std::uint64_t handle) {
    auto name = names.find(handle);
    return name == names.end() ? kNoString : name->second;
}

}  // namespace

void SpoolAnnotations::add(std::uint32_t thread, const spool::HostEvent& event, std::string_view text) {
    using spool::HostEventOp;
    auto time = static_cast<TimeNs>(event.time);
    bool registered = event.text_kind == spool::TextKind::registered;
    Open open{time, text.empty() ? kNoString : batch_.intern(text), registered ? event.text : 0, event.domain,
              std::exchange(about_next_[thread], Attributes{})};
    auto id = static_cast<std::uint32_t>(event.range);
    switch (event.op) {
        case HostEventOp::push: stacks_[{thread, event.domain}].push_back(open); break;
        case HostEventOp::pop:
            if (std::vector<Open>& stack = stacks_[{thread, event.domain}]; !stack.empty()) {
                close(thread, stack.back(), time);
                stack.pop_back();
            }
            break;
        case HostEventOp::start:
            // The end of the previous one with this id was lost; it was over by now.
            if (auto same = started_.find(event.range); same != started_.end())
                close(same->second.first, same->second.second, time);
            started_[event.range] = {thread, open};
            started_by_[thread].push_back(event.range);
            break;
        case HostEventOp::end:
            if (auto started = started_.find(event.range); started != started_.end()) {
                close(started->second.first, started->second.second, time);
                started_.erase(started);
            }
            break;
        case HostEventOp::mark: close(thread, open, time); break;
        case HostEventOp::string_name: texts_[event.range] = open.text; break;
        case HostEventOp::domain_name: domains_[event.range] = open.text; break;
        case HostEventOp::thread_name: thread_names_[id] = open.text; break;
        case HostEventOp::category_name: categories_[{event.domain, event.range}] = open.text; break;
        case HostEventOp::stream_name: stream_names_[id] = open.text; break;
        case HostEventOp::attributes: about_next_[thread] = {event.text, payload_of(event.detail, event.range)}; break;
        case HostEventOp::reset: reset(thread, time); break;
        case HostEventOp::stream_call:
        case HostEventOp::stack_name:
        case HostEventOp::launch_stack:
        case HostEventOp::step: break;  // not an annotation
    }
}

// Everything that this thread had open ended at `time`. Each range is visited once, however many resets there are.
void SpoolAnnotations::reset(std::uint32_t thread, TimeNs time) {
    auto stack = stacks_.lower_bound({thread, 0});
    while (stack != stacks_.end() && stack->first.first == thread) {
        for (const Open& open : stack->second) close(thread, open, time);
        stack = stacks_.erase(stack);
    }
    for (std::uint64_t range : std::exchange(started_by_[thread], {})) {
        auto started = started_.find(range);
        if (started == started_.end() || started->second.first != thread) continue;
        close(thread, started->second.second, time);
        started_.erase(started);
    }
}

void SpoolAnnotations::interrupt(TimeNs time) {
    for (auto& [place, stack] : stacks_)
        for (const Open& open : stack) close(place.first, open, time);
    for (auto& [range, started] : started_) close(started.first, started.second, time);
    stacks_.clear();
    started_.clear();
    started_by_.clear();
    about_next_.clear();
}

void SpoolAnnotations::finish(TimeNs last, const std::function<StringId(std::uint32_t)>& thread_key) {
    interrupt(last);
    RangeTable& table = batch_.tables.range;
    for (const Closed& range : closed_) {
        Row row = table.add();
        const Open& open = range.open;
        table.start.set(row, open.start);
        table.dur.set(row, span_between(open.start, range.end));
        table.thread.set(row, thread_key(range.thread));
        StringId text = open.handle != 0 ? named(texts_, open.handle) : open.text;
        if (text != kNoString) set_range_text(batch_, row, std::string(batch_.strings[text]));
        if (StringId domain = named(domains_, open.domain); domain != kNoString) table.domain.set(row, domain);
        if (open.about.payload) table.payload.set(row, *open.about.payload);
        if (open.about.category == 0) continue;
        auto category = categories_.find({open.domain, open.about.category});
        table.category.set(row, category != categories_.end() ? category->second
                                                              : batch_.intern(fmt::format("{}", open.about.category)));
    }
}

}  // namespace gpuprof::importers
