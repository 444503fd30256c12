import { defineConfig } from "vite";
import { oneFile } from "./one-file";

export default defineConfig({
  plugins: [oneFile("explorer.html")],
  build: {
    outDir: "../python/rexmit/report",
    emptyOutDir: false,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    rollupOptions: { output: { format: "iife", entryFileNames: "explorer.js" } },
  },
  test: { environment: "node", include: ["tests/**/*.test.ts"] },
} as Parameters<typeof defineConfig>[0]);
