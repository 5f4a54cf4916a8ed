import { defineConfig } from 'vite';

/** The script of the verifier as one file without imports. */
export default defineConfig({
  root: import.meta.dirname,
  build: {
    lib: {
      entry: 'page/main.ts',
      formats: ['iife'],
      name: 'verifier',
      fileName: () => 'verify.js',
    },
    target: 'es2022',
    emptyOutDir: true,
  },
});
