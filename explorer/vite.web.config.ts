import { defineConfig } from "vite";
import { oneFile } from "./one-file";

const { REXMIT_CORE: core, REXMIT_OUT: out } = process.env;
if (core === undefined || out === undefined) throw new Error("make web builds this page: it says where its core is");

/** The page that analyses in the browser, without its payload, which site/web.py puts into it. */
export default defineConfig({
  root: "web",
  plugins: [oneFile("page.html")],
  resolve: { alias: { core } },
  worker: { format: "iife" },
  build: {
    outDir: out,
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    rollupOptions: { output: { format: "iife", entryFileNames: "page.js" } },
  },
});
