import { describe, expect, it } from "vitest";
import { fromFragment, NOWHERE, type Place, toFragment } from "../src/view/place";

describe("an address", () => {
  it("restores what it was made of", () => {
    const places: Place[] = [
      { ...NOWHERE, source: 1, flow: 7 },
      {
        ...NOWHERE,
        page: "flow",
        flow: 2,
        from: 6.1,
        to: 6.800000001,
        low: 100,
        high: 2e9,
        picked: [6.25, 6.5],
        packet: 812,
        episode: 3,
        hidden: ["rtt", "idle"],
        beside: true,
      },
      { ...NOWHERE, page: "flow", flow: 0, from: -0.25, to: 20 },
      { ...NOWHERE, page: "episode", source: 2, flow: 4, episode: 0, scale: "time", packet: 1 },
      { ...NOWHERE, page: "comparison" },
      { ...NOWHERE, page: "study" },
      { ...NOWHERE, page: "sweep", chart: [2, 0, 1, -1, 4] },
    ];
    for (const place of places) expect(fromFragment(toFragment(place))).toEqual(place);
  });

  it("is short where nothing was chosen", () => {
    expect(toFragment({ ...NOWHERE, page: "flow", flow: 2 })).toBe("#flow/0/2");
  });

  it("leaves out what makes no sense", () => {
    expect(fromFragment("#nowhere/0/2")).toBeNull();
    expect(fromFragment("")).toBeNull();
    const odd = fromFragment("#flow/0/2?t=9,3&y=a,b&p=-4&e=0&hide=<b>,rtt");
    expect(odd).toEqual({ ...NOWHERE, page: "flow", flow: 2, hidden: ["rtt"] });
  });
});
