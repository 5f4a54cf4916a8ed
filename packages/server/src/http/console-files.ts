import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { SignInWay } from './pages.ts';

/** A static file of the console. */
export interface ConsoleFile {
  readonly type: string;
  readonly body: Buffer;
  /** The same, compressed. Absent: compression would not make it smaller. */
  readonly brotli?: Buffer;
}

/** The parts of the document that each answer fills in. */
export interface PageParts {
  /** The nonce of the style elements. */
  readonly nonce: string;
  readonly signIn: SignInWay;
  /** The first part of the address. */
  readonly name: string;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** A file that the code of a built page imports. */
const IMPORTED = /[a-z]"\.\/([\w.-]+\.js)"/g;

/** The built console in memory: its document, and files whose names change with their content. */
export class ConsoleFiles {
  readonly #document: string;
  readonly #files: ReadonlyMap<string, ConsoleFile>;
  readonly #preloads: ReadonlyMap<string, string>;

  private constructor(document: string, files: ReadonlyMap<string, ConsoleFile>) {
    this.#document = document;
    this.#files = files;
    this.#preloads = preloadsOf(files);
  }

  /** Reads a folder that `scripts/build-console.ts` wrote. @throws the errors of the files */
  static async read(folder: string): Promise<ConsoleFiles> {
    const document = await readFile(join(folder, 'index.html'), 'utf8');
    const names = (await readdir(join(folder, 'assets'))).filter((name) => extname(name) in TYPES);
    const files = await Promise.all(names.map((name) => fileOf(join(folder, 'assets', name))));
    return new ConsoleFiles(
      document,
      new Map(names.map((name, n) => [name, files[n] as ConsoleFile])),
    );
  }

  /** A file by its name. */
  file(name: string): ConsoleFile | undefined {
    return this.#files.get(name);
  }

  /** The document of a page, whose own code and what it imports load beside that of all pages. */
  page({ nonce, signIn, name }: PageParts): string {
    return this.#document
      .replace('</head>', `${this.#preloads.get(name) ?? ''}</head>`)
      .replace('{{nonce}}', nonce)
      .replace('{{sign-in}}', signIn);
  }
}

/** The links that load the code of a page and what it imports, by the name of the page. */
function preloadsOf(files: ReadonlyMap<string, ConsoleFile>): Map<string, string> {
  const pages = [...files].filter(([code]) => code.includes('-page-'));
  return new Map(
    pages.map(([code, { body }]) => [
      code.replace(/-page-.*/, ''),
      [...`import"./${code}"${body}`.matchAll(IMPORTED)]
        .map(([, file]) => `<link rel="modulepreload" crossorigin href="/assets/${file}">`)
        .join(''),
    ]),
  );
}

async function fileOf(path: string): Promise<ConsoleFile> {
  const body = await readFile(path);
  const type = TYPES[extname(path)] as string;
  const brotli = await readFile(`${path}.br`).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  return { type, body, ...(brotli !== undefined && { brotli }) };
}
