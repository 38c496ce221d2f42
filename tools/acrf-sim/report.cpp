// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "svg_plot.h"

namespace acrf::sim {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostPoints = 400;
constexpr std::size_t kMostRows = 200;

constexpr char kStyle[] = R"(
:root { color-scheme: light dark; --ink: #1c2330; --soft: #5b6575; --line: #d9dee6; --card: #f6f8fa; --page: #fff;
  --c0: #2563eb; --c1: #d97706; --c2: #16a34a; --c3: #dc2626; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --soft: #9aa4b5; --line: #2f3947; --card: #1a212c; --page: #11161e;
  --c0: #60a5fa; --c1: #fbbf24; --c2: #4ade80; --c3: #f87171; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); margin: 0 auto; max-width: 1100px; padding: 24px; }
h1 { font-size: 24px; margin: 0 } h2 { font-size: 17px; margin: 32px 0 8px }
.about { color: var(--soft); margin: 4px 0 20px }
.good, .bad { padding: 8px 14px; border-radius: 8px; font-weight: 600; color: #fff }
.good { background: #15803d } .bad { background: #b91c1c }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 10px; margin: 16px 0 }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 10px 14px }
.tile b { display: block; font-size: 22px; font-variant-numeric: tabular-nums } .tile span { color: var(--soft); font-size: 13px }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(460px, 100%), 1fr)); gap: 16px }
.plots figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 10px }
svg { width: 100%; height: auto; display: block } svg text { fill: var(--soft); font: 12px system-ui, sans-serif }
svg text.title { fill: var(--ink); font-weight: 600; font-size: 13px } .grid { stroke: var(--line) }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round }
.s0 { stroke: var(--c0) } .s1 { stroke: var(--c1) } .s2 { stroke: var(--c2) } .s3 { stroke: var(--c3) }
.f0 { fill: var(--c0) } .f1 { fill: var(--c1) } .f2 { fill: var(--c2) } .f3 { fill: var(--c3) }
.wide { overflow-x: auto } table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums }
th { text-align: left; color: var(--soft); font-weight: 600 } th, td { padding: 4px 12px 4px 0; border-bottom: 1px solid var(--line) }
td.n, th.n { text-align: right }
)";

std::string seconds_text(const std::optional<double>& value) {
  return value ? fmt::format("{:.1f} s", *value) : "none";
}

std::string tile(const std::string& value, const std::string& name) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n", html_text(value),
                     html_text(name));
}

std::string tiles(const Figures& figures) {
  std::string html = "<div class=\"tiles\">\n";
  html += tile(std::to_string(figures.submitted), "jobs submitted");
  html += tile(std::to_string(figures.completed), "completed");
  html += tile(std::to_string(figures.failed), "failed");
  html += tile(std::to_string(figures.pending + figures.running), "unfinished at the end");
  html += tile(std::to_string(figures.injected), "faults injected");
  html += tile(std::to_string(figures.repaired), "parts repaired");
  html += tile(std::to_string(figures.recovered), "jobs brought back");
  html += tile(seconds_text(figures.recover_p50_s), "to recover, p50");
  html += tile(seconds_text(figures.recover_p99_s), "to recover, p99");
  html += tile(seconds_text(figures.waiting_p50_s), "waiting to start, p50");
  html += tile(fmt::format("{:.0f} %", 100 * figures.gpu_share), "GPUs allocated");
  html += tile(figures.ettr ? fmt::format("{:.3f}", *figures.ettr) : "none", "ETTR");
  return html + "</div>\n";
}

// At most so many points, the last one among them: more than a plot has pixels says nothing.
template <typename Value>
Series series_of(const std::string& name, const std::vector<Sample>& samples, Value value) {
  Series series{name, {}};
  const auto step = std::max<std::size_t>(1, samples.size() / kMostPoints);
  for (std::size_t i = 0; i < samples.size(); i += step)
    series.points.emplace_back(static_cast<double>(samples[i].at_ms) / 1000, value(samples[i]));
  return series;
}

std::string plots(const Books& books, const ReportFacts& facts) {
  const auto& samples = books.samples();
  const double length_s = std::max(static_cast<double>(facts.length_ms) / 1000, 1.0);
  const auto frame = [&](const std::string& title, const std::string& unit, double least) {
    return Frame{title, "s", unit, length_s, least};
  };
  std::vector<double> recovering;
  for (const auto& recovery : books.recoveries()) recovering.push_back(recovery.seconds);
  const auto longest =
      recovering.empty() ? 1.0 : *std::max_element(recovering.begin(), recovering.end());
  const std::string all[] = {
      step_plot(frame("Jobs", "", 4),
                {series_of("running", samples, [](const Sample& s) { return double(s.running); }),
                 series_of("waiting", samples, [](const Sample& s) { return double(s.pending); })}),
      step_plot(
          frame("Jobs that ended", "", 4),
          {series_of("completed", samples, [](const Sample& s) { return double(s.completed); }),
           series_of("failed", samples, [](const Sample& s) { return double(s.failed); })}),
      step_plot(frame("GPUs allocated", "%", 100),
                {series_of("", samples, [](const Sample& s) { return 100 * s.gpu_share; })}),
      step_plot(frame("Out of service", "", 4),
                {series_of("nodes", samples, [](const Sample& s) { return double(s.nodes_out); }),
                 series_of("parts under repair", samples,
                           [](const Sample& s) { return double(s.sick_gpus); })}),
      histogram({"Fault to running again", "s", "jobs", longest, 4}, recovering, 20)};
  std::string html = "<div class=\"plots\">\n";
  for (const auto& svg : all) html += "<figure>" + svg + "</figure>\n";
  return html + "</div>\n";
}

std::string recovery_table(const Books& books) {
  const auto all = books.recoveries();
  if (all.empty()) return "<p>No fault hit a running job.</p>\n";
  std::string html =
      "<div class=\"wide\"><table><tr><th class=\"n\">at</th><th>job</th><th>name</th>"
      "<th>lost node</th><th class=\"n\">running again after</th></tr>\n";
  for (std::size_t i = 0; i < std::min(all.size(), kMostRows); ++i)
    html += fmt::format(
        "<tr><td class=\"n\">{:.1f} s</td><td>{}</td><td>{}</td><td>{}</td>"
        "<td class=\"n\">{:.1f} s</td></tr>\n",
        double(all[i].at_ms) / 1000, html_text(all[i].job),
        html_text(books.jobs().at(all[i].job).plan.name), html_text(all[i].node), all[i].seconds);
  return html + "</table></div>\n";
}

std::string fault_table(const Books& books) {
  std::string html =
      "<div class=\"wide\"><table><tr><th class=\"n\">at</th><th>fault</th><th>node</th>"
      "<th class=\"n\">GPU</th></tr>\n";
  const auto& all = books.faults();
  for (std::size_t i = 0; i < std::min(all.size(), kMostRows); ++i)
    html += fmt::format(
        "<tr><td class=\"n\">{:.1f} s</td><td>{}</td><td>{}</td><td class=\"n\">{}</td></tr>\n",
        double(all[i].at_ms) / 1000, html_text(all[i].plan.kind), html_text(all[i].node),
        all[i].plan.gpu);
  return html + "</table></div>\n";
}

std::string repair_table(const Books& books) {
  if (books.repairs().empty()) return "<p>None has come back yet.</p>\n";
  std::string html =
      "<div class=\"wide\"><table><tr><th class=\"n\">at</th><th>node</th><th>class</th>"
      "<th class=\"n\">back after</th></tr>\n";
  for (std::size_t i = 0; i < std::min(books.repairs().size(), kMostRows); ++i) {
    const auto& repair = books.repairs()[i];
    html += fmt::format(
        "<tr><td class=\"n\">{:.1f} s</td><td>{}</td><td>{}</td><td class=\"n\">{:.1f} "
        "s</td></tr>\n",
        double(repair.at_ms) / 1000, html_text(repair.node), html_text(repair.fault_class),
        repair.seconds);
  }
  return html + "</table></div>\n";
}

std::string judgement(const Figures& figures) {
  if (figures.wrongs.empty()) {
    const auto redone =
        figures.redone == 0
            ? ""
            : fmt::format(" {} ended when a fault had hit them, and did their work again.",
                          figures.redone);
    return "<p class=\"good\">No job was lost, none ran twice." + redone + "</p>\n";
  }
  std::string html = "<div class=\"bad\">";
  for (const auto& wrong : figures.wrongs) html += html_text(wrong) + "<br>";
  return html + "</div>\n";
}

void set(ordered_json& object, const char* name, const std::optional<double>& value) {
  object[name] = value ? ordered_json(*value) : ordered_json(nullptr);
}

}  // namespace

std::string html_report(const Books& books, const ReportFacts& facts) {
  const auto figures = books.figures();
  return fmt::format(
             "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
             "<meta name=\"viewport\" content=\"width=device-width\">"
             "<title>acrf-sim: {} nodes, {} s</title>\n<style>{}</style></head>\n<body>\n"
             "<h1>acrf-sim live</h1>\n<p class=\"about\">A private Slurm cluster of {} nodes with "
             "{} "
             "fake GPUs each for {:.0f} s; {:g} jobs a minute, failures of {:g} to {:g} % a node "
             "and "
             "minute, seed {}.</p>\n",
             facts.nodes, facts.length_ms / 1000, kStyle, facts.nodes, facts.gpus,
             double(facts.length_ms) / 1000, facts.rate_per_min, facts.failures.low,
             facts.failures.high, facts.seed) +
         judgement(figures) + tiles(figures) + plots(books, facts) +
         "<h2>Jobs brought back</h2>\n" + recovery_table(books) + "<h2>Repairs</h2>\n" +
         repair_table(books) + "<h2>Faults</h2>\n" + fault_table(books) +
         "<p class=\"about\">ETTR: planned work over the time from the first start to the end, of "
         "completed jobs.</p>\n</body></html>\n";
}

std::string json_report(const Books& books, const ReportFacts& facts) {
  const auto figures = books.figures();
  ordered_json all = {{"nodes", facts.nodes},
                      {"gpus_per_node", facts.gpus},
                      {"seed", facts.seed},
                      {"seconds", double(facts.length_ms) / 1000},
                      {"rate_per_min", facts.rate_per_min},
                      {"submitted", figures.submitted},
                      {"completed", figures.completed},
                      {"failed", figures.failed},
                      {"unfinished", figures.pending + figures.running},
                      {"requeued", figures.requeued},
                      {"redone", figures.redone},
                      {"retried", figures.retried},
                      {"injected", figures.injected},
                      {"by_jobs", figures.by_jobs},
                      {"skipped_faults", figures.skipped},
                      {"repaired", figures.repaired},
                      {"under_repair", figures.under_repair},
                      {"recovered", figures.recovered},
                      {"gpu_share", figures.gpu_share},
                      {"wrongs", figures.wrongs}};
  set(all, "recover_p50_s", figures.recover_p50_s);
  set(all, "recover_p99_s", figures.recover_p99_s);
  set(all, "recover_max_s", figures.recover_max_s);
  set(all, "waiting_p50_s", figures.waiting_p50_s);
  set(all, "waiting_p99_s", figures.waiting_p99_s);
  set(all, "ettr", figures.ettr);
  auto& samples = all["samples"] = ordered_json::array();
  for (const auto& sample : books.samples())
    samples.push_back({{"at_ms", sample.at_ms},
                       {"pending", sample.pending},
                       {"running", sample.running},
                       {"completed", sample.completed},
                       {"failed", sample.failed},
                       {"nodes_out", sample.nodes_out},
                       {"gpu_share", sample.gpu_share}});
  auto& recoveries = all["recoveries"] = ordered_json::array();
  for (const auto& recovery : books.recoveries())
    recoveries.push_back({{"job", recovery.job},
                          {"node", recovery.node},
                          {"at_ms", recovery.at_ms},
                          {"seconds", recovery.seconds}});
  return all.dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

std::string json_path_beside(const std::string& html_path) {
  const auto slash = html_path.rfind('/');
  const auto dot = html_path.rfind('.');
  const bool has_extension =
      dot != std::string::npos && (slash == std::string::npos || dot > slash + 1);
  return (has_extension ? html_path.substr(0, dot) : html_path) + ".json";
}

}  // namespace acrf::sim
