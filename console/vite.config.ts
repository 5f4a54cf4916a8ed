import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Code that the inbox does not need before it shows its list. */
const LATER =
  /floating-ui|number-format|@noble|\/(?:Autocomplete|Combobox|Menu|Modal|NumberInput|Popover|Radio|ScrollArea|Select|Table|Textarea|Tooltip)|remove-scroll|notifications\/|spotlight\/|\/schema-form|\/pages\/(?:agents|audit|incidents|memory|standing|timeline|what-if)/;

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    // The content security policy allows files of the server only, and no `data:` address.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    emptyOutDir: true,
    cssCodeSplit: false,
    // A browser asks for six files at a time, so many small ones take many round trips.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'shared', minShareCount: 2, test: (id) => !LATER.test(id) },
            { name: 'later', minShareCount: 2 },
          ],
        },
      },
    },
  },
});
