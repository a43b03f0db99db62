// What top shows, without a terminal.
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/top/top_layout.h"
#include "present/report/text_lines.h"
#include "tests/unit/cli/sample_states.h"

namespace gpuprof {
namespace {

std::string text_of(const std::vector<StyledLine>& lines) {
    std::string text;
    for (const StyledLine& line : lines) {
        for (const StyledText& part : line) text += part.text;
        text += '\n';
    }
    return text;
}

TopView view_of(int width, int height, int ticks = 0) {
    TopView view;
    view.width = width;
    view.height = height;
    view.now = kNoon + ticks * kTick;
    return view;
}

TEST(TopPlot, tells_nothing_from_zero_from_little) {
    std::vector<std::optional<double>> values{{}, 0, 0.1, 50, 100, 250};
    EXPECT_EQ(plot(values, 100, 1, true), (std::vector<std::string>{" ·▁▄██"}));
    EXPECT_EQ(plot(values, 100, 2, true), (std::vector<std::string>{"    ██", " ·▁███"}));
    EXPECT_EQ(plot(values, 100, 1, false), (std::vector<std::string>{" _.:##"}));
    EXPECT_TRUE(plot(values, 100, 0, true).empty());
}

TEST(TopLayout, shows_what_is_known_and_a_dash_for_the_rest) {
    DrawnState drawn;
    drawn.read(0, {{Metric::util_gpu, 97}, {Metric::temp, 61}, {Metric::throttle, 0x24}});
    std::string text = text_of(lay_out(drawn.state, view_of(120, 30)));
    EXPECT_NE(text.find("NVIDIA H200"), text.npos) << text;
    EXPECT_NE(text.find("97 %"), text.npos);
    EXPECT_NE(text.find("– W"), text.npos);
    EXPECT_NE(text.find("power, heat"), text.npos);
    EXPECT_NE(text.find("util.gpu"), text.npos);
    EXPECT_EQ(text.find("GPM"), text.npos);  // this device has none
    drawn.read(0, {{Metric::gpm_sm_active, 40}});
    EXPECT_NE(text_of(lay_out(drawn.state, view_of(120, 30))).find("GPM SM active"), text.npos);
}

// Whatever the size, the lines fit it.
TEST(TopLayout, fits_every_size) {
    DrawnState drawn(9, "a name that is far too long for the column it stands in \xff");
    for (int device = 0; device < 9; ++device)
        for (int tick = 0; tick < 5; ++tick)
            drawn.read(tick, {{Metric::util_gpu, 10.0 * tick}, {Metric::power, 123}, {Metric::mem_used, 4000}}, device);
    for (int pid = 1; pid < 50; ++pid) drawn.process(4, pid, pid);
    drawn.fault({}, false, std::string(300, 'x'));
    for (bool unicode : {true, false})
        for (int width : {1, 20, 40, 80, 129, 130, 200, 2000})
            for (int height : {0, 1, 2, 5, 12, 24, 60}) {
                TopView view = view_of(width, height, 4);
                view.unicode = unicode;
                view.selected = 7;
                for (bool help : {false, true}) {
                    view.help = help;
                    std::vector<StyledLine> lines = lay_out(drawn.state, view);
                    EXPECT_LE(static_cast<int>(lines.size()), std::max(height, 1));
                    for (const StyledLine& line : lines) {
                        int cells = 0;
                        for (const StyledText& part : line) cells += display_width(part.text);
                        EXPECT_LE(cells, width);
                    }
                }
            }
}

TEST(TopLayout, marks_the_chosen_device_and_counts_what_does_not_fit) {
    DrawnState drawn(8);
    for (int device = 0; device < 8; ++device) drawn.read(0, {{Metric::util_gpu, 10.0 + device}}, device);
    TopView view = view_of(100, 12);
    view.selected = 6;
    std::string text = text_of(lay_out(drawn.state, view));
    EXPECT_NE(text.find("> 6"), text.npos) << text;
    EXPECT_NE(text.find("4 more"), text.npos) << text;
    view.selected = 8;  // round again
    EXPECT_NE(text_of(lay_out(drawn.state, view)).find("> 0"), text.npos);
}

TEST(TopLayout, says_what_is_wrong) {
    DrawnState drawn;
    drawn.read(0, {{Metric::util_gpu, 10}});
    TopView view = view_of(100, 20, 60);
    view.problem = "the sampler died";
    view.paused = true;
    std::string text = text_of(lay_out(drawn.state, view));
    EXPECT_NE(text.find("no recent sample"), text.npos) << text;
    EXPECT_NE(text.find("the sampler died"), text.npos);
    EXPECT_NE(text.find("paused"), text.npos);
    drawn.fault({}, true, "GPU 0 fell off the bus");
    text = text_of(lay_out(drawn.state, view));
    EXPECT_NE(text.find("lost"), text.npos);
    EXPECT_NE(text.find("GPU 0 fell off the bus"), text.npos);
}

TEST(TopLayout, shows_processes_with_their_names) {
    DrawnState drawn;
    drawn.read(0, {{Metric::util_gpu, 10}});
    drawn.process(0, 4711, 2048);
    drawn.process(0, 4712, 1024);
    TopView view = view_of(100, 30);
    view.names[4711] = "python train.py\x1b[2J";
    std::string text = text_of(lay_out(drawn.state, view));
    EXPECT_NE(text.find("4711"), text.npos) << text;
    EXPECT_NE(text.find("python train.py"), text.npos);
    EXPECT_EQ(text.find('\x1b'), text.npos);
    EXPECT_NE(text.find("2.00 GiB"), text.npos);
    EXPECT_NE(text.find("  –\n"), text.npos);  // whose name is not to be seen
}

}  // namespace
}  // namespace gpuprof
