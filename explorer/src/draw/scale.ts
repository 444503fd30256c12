/** From values to pixels, and the round values at which an axis is marked. */

export interface Scale {
  /** Values at the two ends of the pixels. */
  readonly d0: number;
  readonly d1: number;
  readonly p0: number;
  readonly p1: number;
  (value: number): number;
  back(pixel: number): number;
}

export function linear(d0: number, d1: number, p0: number, p1: number): Scale {
  const span = d1 - d0 || 1;
  const factor = (p1 - p0) / span;
  const scale = (value: number): number => p0 + (value - d0) * factor;
  return Object.assign(scale, { d0, d1, p0, p1, back: (pixel: number) => d0 + (pixel - p0) / factor });
}

/** Round values within [low, high], about `most` of them at most: 1, 2 or 5 times a power of ten apart. */
export function ticks(low: number, high: number, most: number): number[] {
  const step = tickStep(low, high, most);
  if (!(step > 0)) return [];
  const result: number[] = [];
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  for (let k = first; k <= last; k++) result.push(k === 0 ? 0 : k * step);
  return result;
}

export function tickStep(low: number, high: number, most: number): number {
  const rough = (high - low) / Math.max(1, most);
  if (!(rough > 0) || !Number.isFinite(rough)) return 0;
  const power = 10 ** Math.floor(Math.log10(rough));
  const lead = rough / power;
  return (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10) * power;
}

/** As many decimals as tell ticks that are `step` apart from each other. */
export function decimals(step: number): number {
  return step > 0 ? Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) : 0;
}
