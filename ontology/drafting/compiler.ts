import { join } from 'node:path';
import type { SourceFile } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/async';

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
}

/** The options under which a scaffold compiles. */
const OPTIONS = {
  ...{ target: 'es2024', lib: ['es2024'], module: 'nodenext', moduleResolution: 'nodenext', types: [], strict: true },
  ...{ noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, verbatimModuleSyntax: true },
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

  /** Parses the files, and checks their types where `types` is set. */
  async compile(files: ReadonlyMap<string, string>, types: boolean): Promise<Compiled> {
    const folder = join(import.meta.dirname, `in-memory-${this.#folders.size}`);
    this.#folders.add(folder);
    const config = join(folder, 'tsconfig.json');
    this.#files.set(config, JSON.stringify({ compilerOptions: OPTIONS, files: [...files.keys()] }));
    for (const [name, text] of files) this.#files.set(join(folder, name), text);
    const snapshot = await this.#api.updateSnapshot({ openProjects: [config] });
    try {
      const program = snapshot.getProject(config)?.program;
      if (program === undefined)
        throw new Error('The TypeScript compiler opened no project. Install its dependencies.');
      const names = [...files.keys()];
      const sources = new Map<string, SourceFile>();
      const [syntax, found]: [CompilerMessage[], CompilerMessage[]] = [[], []];
      for (const name of names) {
        const source = await program.getSourceFile(join(folder, name));
        if (source !== undefined) sources.set(name, source);
        syntax.push(...messages(name, await program.getSyntacticDiagnostics(join(folder, name))));
      }
      if (types && syntax.length === 0)
        for (const name of names)
          found.push(...messages(name, await program.getSemanticDiagnostics(join(folder, name))));
      return { sources, syntax, types: found };
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

function messages(file: string, found: readonly { readonly pos: number; readonly text: string }[]): CompilerMessage[] {
  return found.slice(0, MESSAGES_MAX).map(({ pos, text }) => ({ file, from: pos, says: text }));
}
