import { join } from 'node:path';
import type { SourceFile } from 'typescript/unstable/ast';
import { API, type Checker } from 'typescript/unstable/async';

/** A message of the compiler about a file, with its place in characters from 0. */
export interface CompilerMessage {
  readonly file: string;
  readonly from: number;
  readonly says: string;
}

export interface Compiled {
  readonly sources: ReadonlyMap<string, SourceFile>;
  readonly syntax: readonly CompilerMessage[];
  /** Without a type check, and after an error of syntax, empty. */
  readonly types: readonly CompilerMessage[];
  /** The findings of `inspect`, on files without a message of the compiler. */
  readonly inspected: readonly CompilerMessage[];
}

/** A reading of a file with its types. */
export type Inspect = (
  file: string,
  source: SourceFile,
  checker: Checker,
) => Promise<readonly { readonly from: number; readonly says: string }[]>;

/** The options under which a scaffold compiles. */
const OPTIONS = {
  ...{
    target: 'es2024',
    lib: ['es2024'],
    module: 'nodenext',
    moduleResolution: 'nodenext',
    types: [],
    strict: true,
  },
  ...{
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: true,
  },
  ...{ erasableSyntaxOnly: true, isolatedModules: true, allowImportingTsExtensions: true },
  ...{ skipLibCheck: true, noEmit: true },
};
const MESSAGES_MAX = 20;

/**
 * The TypeScript compiler over files in memory. They stand in folders of this workspace that do not
 * exist, so that `assize` and `zod` are found. Nothing is written.
 */
export class Compiler {
  readonly #files: Map<string, string> = new Map();
  readonly #folders: Set<string> = new Set();
  readonly #api: API = new API({
    cwd: import.meta.dirname,
    fs: {
      readFile: (name) => this.#files.get(name),
      fileExists: (name) => (this.#files.has(name) ? true : undefined),
      directoryExists: (name) => (this.#folders.has(name) ? true : undefined),
    },
  });

  /** Parses the files, and checks and inspects their types where `inspect` is given. */
  async compile(files: ReadonlyMap<string, string>, inspect?: Inspect): Promise<Compiled> {
    const folder = join(import.meta.dirname, `in-memory-${this.#folders.size}`);
    this.#folders.add(folder);
    const config = join(folder, 'tsconfig.json');
    this.#files.set(config, JSON.stringify({ compilerOptions: OPTIONS, files: [...files.keys()] }));
    for (const [name, text] of files) this.#files.set(join(folder, name), text);
    const snapshot = await this.#api.updateSnapshot({ openProjects: [config] });
    try {
      const project = snapshot.getProject(config);
      if (project === undefined)
        throw new Error('The TypeScript compiler opened no project. Install its dependencies.');
      const { program, checker } = project;
      const names = [...files.keys()];
      const sources = new Map<string, SourceFile>();
      const syntax: CompilerMessage[] = [];
      const types: CompilerMessage[] = [];
      const inspected: CompilerMessage[] = [];
      for (const name of names) {
        const source = await program.getSourceFile(join(folder, name));
        if (source !== undefined) sources.set(name, source);
        syntax.push(...messages(name, await program.getSyntacticDiagnostics(join(folder, name))));
      }
      if (inspect !== undefined && syntax.length === 0)
        for (const [name, source] of sources) {
          const found = messages(name, await program.getSemanticDiagnostics(join(folder, name)));
          types.push(...found);
          if (found.length > 0) continue;
          for (const one of await inspect(name, source, checker))
            inspected.push({ file: name, ...one });
        }
      return { sources, syntax, types, inspected };
    } finally {
      // The trees of the sources stay readable.
      await snapshot.dispose();
    }
  }

  /** Ends the process of the compiler. */
  async close(): Promise<void> {
    await this.#api.close();
  }
}

function messages(
  file: string,
  found: readonly { readonly pos: number; readonly text: string }[],
): CompilerMessage[] {
  return found.slice(0, MESSAGES_MAX).map(({ pos, text }) => ({ file, from: pos, says: text }));
}
