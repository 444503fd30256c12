/** Below a table that shows its first rows: how many there are, and a button for further ones. */

import { grouped } from "../draw/units";

interface Props {
  shown: number;
  of: number;
  /** How many more the button shows. */
  step: number;
  /** What a row is, of several. */
  noun?: string;
  more: () => void;
}

export function More({ shown, of, step, noun = "rows", more }: Props): preact.JSX.Element | null {
  if (of <= shown) return null;
  return (
    <p class="quiet">
      The first {grouped(shown)} of {grouped(of)} {noun}.{" "}
      <button type="button" class="link" onClick={more}>
        {grouped(Math.min(step, of - shown))} more
      </button>
    </p>
  );
}
