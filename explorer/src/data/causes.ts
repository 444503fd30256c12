/** How a cause of lost time is called. */

import type { CauseShare } from "./meta";

/** `sender-idle (client)`: a cause with the responsible end. */
export function causeName({ cause, by }: Pick<CauseShare, "cause" | "by">): string {
  return by === null ? cause : `${cause} (${by})`;
}
