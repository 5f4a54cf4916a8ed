import type { EntryFormat } from './entries.ts';
import { jsonFormat } from './json-entries.ts';
import { tomlFormat } from './toml-entries.ts';

/** The form of a client's file, by the end of its name. */
export function formatOf({ path }: { readonly path: string }): EntryFormat {
  return path.endsWith('.toml') ? tomlFormat : jsonFormat;
}
