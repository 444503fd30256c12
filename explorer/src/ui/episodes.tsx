/** The episodes as a table: what each lost, what repaired it, how long that took. Also what stands for the panels
 * where they cannot be seen. */

import type { Detail, Episode } from "../data/meta";
import { count, grouped, seconds } from "../draw/units";
import { episodeNumber, go, inWords, isAcross, lookAtEpisode, openLadder, page, type Subject } from "../view/app";

interface Props {
  detail: Detail;
  most: number;
  /** Without what the narrow column beside the panels has no room for. */
  brief?: boolean;
  /** Side by side: of which of the two. */
  of?: string | null;
  /** If it is of what stands beside the flow that the address names. */
  beside?: Subject;
}

export function EpisodeTable({ detail, most, brief = false, of = null, beside }: Props): preact.JSX.Element {
  const all = detail.episodes;
  const name = of === null ? "" : `${of}: `;
  if (all.length === 0) return <p class="quiet">{name === "" ? "No loss episode." : `${name}no loss episode.`}</p>;
  const shown = worst(all, most, detail.row.end_s);
  return (
    <table class={brief ? "list" : "list episodes"}>
      <caption>
        {name}
        {shown.length < all.length
          ? `${name === "" ? "The" : "the"} ${shown.length} worst of ${count(all.length, "loss episode")}`
          : count(all.length, "loss episode")}
      </caption>
      <thead>
        <tr>
          <th scope="col" class="number">#</th>
          <th scope="col" class="number">at s</th>
          <th scope="col" class="number">lost</th>
          {!brief && <th scope="col">how it went</th>}
          {!brief && <th scope="col" class="number">silence</th>}
          <th scope="col" class="number">timeouts</th>
          <th scope="col" class="number">took</th>
          <th scope="col">
            <span class="unseen">ladder</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {shown.map((episode) => (
          <Row key={episode.number} episode={episode} brief={brief} beside={beside} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ episode: e, brief, beside }: { episode: Episode; brief: boolean; beside: Subject | undefined }): preact.JSX.Element {
  const lost = e.lost_copies ?? e.lost_segments;
  const look = (): void => {
    if (page.peek() !== "flow") go({ page: "flow" });
    lookAtEpisode(e.number, beside !== undefined);
  };
  const ladder = (): void => (beside === undefined ? go({ page: "episode", episode: e.number }) : openLadder(beside, e.number));
  const here = episodeNumber.value === e.number && isAcross.value === (beside !== undefined);
  return (
    <tr aria-current={here ? "true" : undefined}>
      <td class="number">
        <button type="button" class="link" onClick={look} aria-label={`Show episode ${e.number + 1}`}>
          {e.number + 1}
        </button>
      </td>
      <td class="number">{grouped(e.start_ns / 1e9, 3)}</td>
      <td class="number">{lost === null ? "?" : grouped(lost)}</td>
      {!brief && <td>{inWords("episode_kind", e.kind)}</td>}
      {!brief && <td class="number">{e.silence_s === null ? "" : seconds(e.silence_s)}</td>}
      <td class="number">{e.timeouts}</td>
      <td class="number">{e.end_ns === null ? "open" : seconds((e.end_ns - e.start_ns) / 1e9)}</td>
      <td>
        <button
          type="button"
          class="link"
          onClick={ladder}
          aria-label={`Ladder of episode ${e.number + 1}`}
        >
          ladder
        </button>
      </td>
    </tr>
  );
}

/** The costliest, in order of time, as a terminal has them: where a cost is not known, how long it took stands for it, of
 * one that is open at the end how long it lasted until then. */
function worst(all: readonly Episode[], most: number, end: number): Episode[] {
  const took = (e: Episode): number => (e.end_ns === null ? end : e.end_ns / 1e9) - e.start_ns / 1e9;
  const weight = (e: Episode): number => e.cost_s ?? took(e);
  return [...all]
    .sort((a, b) => weight(b) - weight(a) || took(b) - took(a))
    .slice(0, most)
    .sort((a, b) => a.start_ns - b.start_ns);
}
