// The heat map of ranks and steps, with the choice of its quantity and of the order of ranks.

import { useMemo } from "preact/hooks";
import { orderRanks, type JobProps } from "../../model/job/job_cell.ts";
import { ROW_ORDERS, rowsBy, type RowOrder } from "../../model/job/job_order.ts";
import { SavePicture } from "../pictures/save_picture.tsx";
import { useAsync, useViewerState } from "../parts/use_state.ts";
import { HeatCells } from "./heat_cells.tsx";

const ORDER_NAMES: Record<RowOrder, string> = { rank: "rank", host: "host", peers: "peers (stage)", price: "price" };

export function HeatMapView(props: JobProps) {
  const { viewer, job } = props;
  const name = useViewerState(viewer, (state) => state.job.quantity);
  const order = useViewerState(viewer, (state) => state.job.order);
  const at = Math.max(0, job.quantities.findIndex((each) => each.name === name));
  const quantity = job.quantities[at];
  const { value: cells, error } = useAsync(() => viewer.recording.jobCells(at), at);
  const rows = useMemo(() => rowsBy(job, order), [job, order]);
  const choose = (event: { currentTarget: HTMLSelectElement }) =>
    viewer.set({ job: { quantity: event.currentTarget.value } });
  if (quantity === undefined) return <p class="about">No step of any rank was recorded.</p>;
  return (
    <section class="heat" aria-label="Ranks and steps">
      <SavePicture title="Ranks and steps" />
      <h2>Ranks and steps</h2>
      <div class="tools-line">
        <label>
          Quantity{" "}
          <select value={quantity.name} onChange={choose}>
            {job.quantities.map((each) => (
              <option key={each.name} value={each.name}>{each.title}</option>
            ))}
          </select>
        </label>
        <label>
          Rows by{" "}
          <select value={order} onChange={(event) => orderRanks(viewer, job, event.currentTarget.value as RowOrder)}>
            {ROW_ORDERS.map((each) => (
              <option key={each} value={each}>{ORDER_NAMES[each]}</option>
            ))}
          </select>
        </label>
      </div>
      <p class="about">{quantity.doc}</p>
      {error !== undefined && <p class="about">Cannot read the cells: {error}</p>}
      {cells !== undefined && <HeatCells {...props} order={order} rows={rows} quantity={quantity} cells={cells} />}
    </section>
  );
}
