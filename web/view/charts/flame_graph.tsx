// The flame graph of the reported part of the recording.

import { reportedPart } from "../../model/table/row_navigation.ts";
import { answerOf } from "../../model/range/range_answer.ts";
import { FlamePanel } from "../flame/flame_panel.tsx";
import { useAsync } from "../parts/use_state.ts";
import { MissingChart, ChartSection, type ChartProps } from "./chart_section.tsx";

const TITLE = "Flame graph of ranges, operators and API calls";

export function FlameGraph({ viewer, report }: ChartProps) {
  const { tracks, lanes } = viewer.recording.manifest;
  const hasHost = lanes.some((lane) => ["thread", "python"].includes(tracks[lane.track]!.kind) && lane.events > 0);
  const ask = async () => (hasHost ? await answerOf(viewer.recording, reportedPart(viewer.recording)) : null);
  const { value: answer, error } = useAsync(ask, viewer);
  const otherwise = "No host ranges, operators or API calls were recorded.";
  if (!hasHost) return <MissingChart id="flame" title={TITLE} report={report} table="" otherwise={otherwise} />;
  return (
    <ChartSection id="flame" title={TITLE} about={error ?? (answer ? "" : "Reading events…")}>
      {answer && <FlamePanel viewer={viewer} answer={answer} label={TITLE} />}
    </ChartSection>
  );
}
