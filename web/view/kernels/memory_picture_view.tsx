// The memory chart: boxes for multiprocessors, caches and memory, links with their traffic.

import { describe, HEIGHT, memoryPicture, WIDTH, type Box, type Link } from "../../layout/memory_picture.ts";
import { hasTraffic, type MemoryChart } from "../../model/kernel/memory_chart.ts";
import { SavePicture } from "../pictures/save_picture.tsx";

export function MemoryPicture({ chart, limit }: { chart: MemoryChart; limit: string }) {
  if (!hasTraffic(chart))
    return (
      <section aria-label="Memory">
        <h2>Memory</h2>
        <p class="quiet">Counters of caches and memory were not collected (ncu --set full collects them).</p>
      </section>
    );
  const picture = memoryPicture(chart, limit);
  return (
    <section aria-label="Memory">
      <SavePicture title="Memory" />
      <h2>Memory <small>bytes moved, in sectors of 32 bytes; wider is more</small></h2>
      <div class="scroll" tabIndex={0} role="group" aria-label="Memory chart">
        <svg class="memory-chart" viewBox={`-2 0 ${WIDTH + 4} ${HEIGHT}`} role="img" aria-label={describe(picture)}>
          {picture.links.map((link) => (
            <LinkShape key={link.name} link={link} />
          ))}
          {picture.boxes.map((box) => (
            <BoxShape key={box.name} box={box} />
          ))}
        </svg>
      </div>
    </section>
  );
}

const PAD = 10;
const LINE = 18;

function BoxShape({ box: { name, x, y, width, height, lines, busy_pct, isLimit } }: { box: Box }) {
  const bar = { x: x + PAD, y: y + height - PAD - 6, width: width - 2 * PAD, height: 6 };
  return (
    <g class={isLimit ? "box limiting" : "box"}>
      <rect class="frame" x={x} y={y} width={width} height={height} rx={4} />
      <text class="title" x={x + PAD} y={y + 22}>{name}</text>
      {[...lines, ...(isLimit ? ["limits the kernel"] : [])].map((line, i) => (
        <text key={line} class={line === "limits the kernel" ? "mark" : ""} x={x + PAD} y={y + 44 + i * LINE}>
          {line}
        </text>
      ))}
      {busy_pct !== null && (
        <>
          <rect class="scale" {...bar} />
          <rect class="busy" {...bar} width={(bar.width * Math.min(100, busy_pct)) / 100} />
        </>
      )}
    </g>
  );
}

const GAP = 4; // between an arrow and a box

function LinkShape({ link: { from, to, bothWays, y, width, isEmpty, above, below } }: { link: Link }) {
  const forward = Math.sign(to - from);
  const head = 5 + width; // length of an arrow head
  const [tail, tip] = [from + forward * GAP, to - forward * GAP];
  const start = bothWays && !isEmpty ? tail + forward * head : tail;
  const shape = (way: number) => `l${-way * head} ${-head / 1.6}v${(2 * head) / 1.6}z`;
  const arrow = (at: number, way: number) => <path d={`M${at} ${y}${shape(way)}`} />;
  return (
    <g class={isEmpty ? "link empty" : "link"}>
      <line x1={start} x2={isEmpty ? tip : tip - forward * head} y1={y} y2={y} stroke-width={isEmpty ? 1 : width} />
      {!isEmpty && arrow(tip, forward)}
      {!isEmpty && bothWays && arrow(tail, -forward)}
      <text x={(from + to) / 2} y={y - 12} text-anchor="middle">{above}</text>
      <text class="detail" x={(from + to) / 2} y={y + 20} text-anchor="middle">{below}</text>
    </g>
  );
}
