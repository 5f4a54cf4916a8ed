import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isInstance } from 'assize/internal/base';
import { issueText, issueWords } from 'assize/internal/canon';
import { checkStoreUrl } from 'assize/internal/stores';
import { parse, YAMLParseError } from 'yaml';
import { z } from 'zod';
import { CellsError } from './errors.ts';

/** One PostgreSQL with its servers. */
export interface CellPlace {
  readonly name: string;
  /** URL of the store. */
  readonly store: string;
  /** Address at which the servers of other cells reach the servers of this cell. */
  readonly url?: string;
  /** Place of the archive. Default: that of `openStore`. */
  readonly archive?: string;
}

/** The cells of a deployment. */
export interface CellsFile {
  readonly file: string;
  /** URL of the store of the root log. */
  readonly root: string;
  /** Milliseconds without the root log after which a cell accepts no entry. */
  readonly silenceMs: number;
  readonly cells: readonly CellPlace[];
}

const SCHEME = 'cells:';
/** Short enough for a revocation, and long enough for a promoted standby. */
const SILENCE_SECONDS = 15;
const SILENCE_MIN = 5;
const SILENCE_MAX = 3_600;
const SILENCE_FORM = `it must be a whole number of seconds from ${SILENCE_MIN} to ${SILENCE_MAX}. Omit it for ${SILENCE_SECONDS}`;
const ROOT_FORM =
  'it must be the URL of the store of the root log, such as postgres://assize@db0.example/root';

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
const NAME_FORM = 'a name of a cell has 1 to 63 lower-case letters, digits and dashes';
const text = z.string().min(1).max(4_096);
const address = text.refine(
  isOrigin,
  'an address is that of a server, such as https://eu-1.example, without a path',
);
const form = z.strictObject({
  root: z.string(ROOT_FORM).min(1, ROOT_FORM).max(4_096),
  silence: z
    .number(SILENCE_FORM)
    .int(SILENCE_FORM)
    .min(SILENCE_MIN, SILENCE_FORM)
    .max(SILENCE_MAX, SILENCE_FORM)
    .optional(),
  cells: z
    .record(
      z.string(),
      z.strictObject({ store: text, url: address.optional(), archive: text.optional() }),
    )
    .refine((cells) => Object.keys(cells).length > 0, 'at least one cell is needed')
    .superRefine((cells, { addIssue }) => {
      for (const name of Object.keys(cells))
        if (!NAME.test(name)) addIssue({ code: 'custom', path: [name], message: NAME_FORM });
    }),
});

/** Whether a store URL names a file of cells. */
export function isCellsUrl(url: string): boolean {
  return url.startsWith(SCHEME);
}

/** The file of a URL `cells:FILE` or `cells:FILE?cell=NAME`, and the cell that it names. */
export function partsOfCellsUrl(url: string): {
  readonly file: string;
  readonly cell: string | undefined;
} {
  const [, file = '', cell] = /^cells:(.*?)(?:\?cell=([^?]*))?$/s.exec(url) ?? [];
  return { file, cell };
}

/**
 * Reads the file of cells. Paths of SQLite stores and of archives are relative to it.
 *
 * @throws CellsError `bad_config`; StoreError `store_unknown`
 */
export function readCellsFile(file: string): CellsFile {
  const { root, silence = SILENCE_SECONDS, cells } = written(file);
  const folder = dirname(resolve(file));
  const places = Object.entries(cells).map(([name, { store, url, archive }]) => ({
    name,
    store: placeIn(folder, 'sqlite:', store),
    ...(url !== undefined && { url: new URL(url).origin }),
    ...(archive !== undefined && { archive: placeIn(folder, 'file:', archive) }),
  }));
  const own = {
    file: resolve(file),
    root: placeIn(folder, 'sqlite:', root),
    silenceMs: silence * 1_000,
  };
  for (const url of [own.root, ...places.map(({ store }) => store)]) checkStoreUrl(url);
  const stores = [own.root, ...places.map(({ store }) => store)];
  if (new Set(stores).size < stores.length)
    throw badFile(file, 'two cells, or a cell and the root log, have one store. Give each its own');
  return { ...own, cells: places };
}

/** The cell of that name. @throws CellsError `not_found` */
export function cellNamed({ file, cells }: CellsFile, name: string | undefined): CellPlace {
  const found = cells.find((cell) => cell.name === name);
  if (found !== undefined) return found;
  const names = cells.map((cell) => cell.name);
  const what = name === undefined ? 'The store URL names no cell' : `${file} has no cell ${name}`;
  throw new CellsError(
    'not_found',
    `${what}. Write cells:FILE?cell=NAME with one of: ${names.join(', ')}.`,
    {
      evidence: { cells: names },
    },
  );
}

function written(file: string): z.infer<typeof form> {
  if (file === '') throw badFile(file, 'the store URL names no file. Write cells:FILE?cell=NAME');
  let value: unknown;
  try {
    value = parse(readFileSync(file, 'utf8'), { maxAliasCount: 0, logLevel: 'error' });
  } catch (error) {
    if (isInstance(error, ReferenceError))
      throw badFile(file, 'it has an alias. Write each value out', error);
    if (isInstance(error, YAMLParseError))
      throw badFile(file, `it is not YAML: ${error.message.split('\n')[0]}`, error);
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw badFile(file, `it cannot be read (${code})`, error);
  }
  const parsed = form.safeParse(value, { error: issueWords });
  if (parsed.success) return parsed.data;
  throw badFile(file, issueText(parsed.error));
}

function badFile(file: string, what: string, cause?: unknown): CellsError {
  return new CellsError('bad_config', `The file of cells ${file}: ${what}.`, {
    evidence: { file },
    ...(cause !== undefined && { cause }),
  });
}

function isOrigin(url: string): boolean {
  const { href, origin, protocol } = URL.parse(url) ?? {};
  return (protocol === 'http:' || protocol === 'https:') && href === `${origin}/`;
}

function placeIn(folder: string, scheme: string, url: string): string {
  return url.startsWith(scheme) ? `${scheme}${resolve(folder, url.slice(scheme.length))}` : url;
}
