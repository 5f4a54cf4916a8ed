/**
 * Writes docs/reference/api.md: every name that the packages export, with its declaration. Run
 * `npm run api` after a change of the public face. A test compares the page with the output of this
 * script, so no public name or signature changes unnoticed.
 *
 * The declarations come from a build. The argument can name its folder; otherwise the script builds
 * one and removes it.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { parseAst } from 'rolldown/parseAst';

/** A statement of a module, as ESTree has it. Only the members that the report reads. */
interface Statement {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly source?: { readonly value: string } | null;
  readonly specifiers?: readonly {
    readonly local: { readonly name: string };
    readonly exported: { readonly name: string };
  }[];
  readonly declaration?: {
    readonly type: string;
    readonly id?: { readonly name: string } | null;
    readonly declarations?: readonly { readonly id: { readonly name: string } }[];
  } | null;
}

interface Declared {
  /** The file, from the folder of the build on. */
  readonly file: string;
  readonly text: string;
}

const root = join(import.meta.dirname, '..');

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
  readonly imports: Readonly<Record<string, string>>;
}

/** Packages whose entries are for the command alone. */
const NOT_LISTED: readonly string[] = [
  '@assize/cli',
  '@assize/server',
  '@assize/cells',
  '@assize/console',
];

/** The whole page, from the declarations of a build. */
export function apiPage(built: string): string {
  const folders = readdirSync(built).sort(
    (a, b) => Number(b === 'assize') - Number(a === 'assize') || (a < b ? -1 : 1),
  );
  const manifests = folders.map((folder): [string, Manifest] => [
    folder,
    JSON.parse(readFileSync(join(built, folder, 'package.json'), 'utf8')),
  ]);
  const modules = new Modules(built, new Map(manifests));
  const sections = manifests.flatMap(([folder, { name, exports }]) =>
    Object.entries(exports).flatMap(([subpath, target]) => {
      if (
        typeof target === 'string' ||
        /^\.\/(unstable|internal|host)/.test(subpath) ||
        NOT_LISTED.includes(name)
      )
        return [];
      const names = [...modules.exportsOf(join(folder, target.types))]
        // The reference of the API has these types.
        .filter(([, { file }]) => !file.endsWith('/openapi.d.ts'))
        .sort(([a], [b]) => (a < b ? -1 : 1));
      return [{ subpath: `${name}${subpath.slice(1)}`, names }];
    }),
  );
  const all = new Set(sections.flatMap(({ names }) => names.map(([name]) => name)));
  return [
    `# Exported names\n`,
    `<!-- Written by scripts/api-report.ts from the declarations of a build: npm run api. -->\n`,
    `The packages export ${all.size} names. Names under \`unstable\` and \`host\` may change in any version and are not listed.\n`,
    ...sections.map(sectionOf),
  ].join('\n');
}

function sectionOf({
  subpath,
  names,
}: {
  readonly subpath: string;
  readonly names: readonly [string, Declared][];
}): string {
  return `## \`${subpath}\`\n\n\`\`\`typescript\n${names.map(([, { text }]) => text).join('\n\n')}\n\`\`\`\n`;
}

/** The declaration files of a build. */
class Modules {
  readonly #built: string;
  /** By folder. */
  readonly #manifests: ReadonlyMap<string, Manifest>;
  readonly #read: Map<string, { readonly text: string; readonly body: readonly Statement[] }> =
    new Map();

  constructor(built: string, manifests: ReadonlyMap<string, Manifest>) {
    this.#built = built;
    this.#manifests = manifests;
  }

  /** Every exported name of a file, with its declaration. */
  exportsOf(file: string): Map<string, Declared> {
    const { body } = this.#module(file);
    const found = new Map<string, Declared>();
    for (const statement of body) {
      for (const name of namesOf(statement)) found.set(name, this.#declarationOf(file, name));
      if (statement.type === 'ExportAllDeclaration')
        throw new Error(`${file} exports all of a module. Name the exports.`);
      if (statement.type !== 'ExportNamedDeclaration') continue;
      for (const { local, exported } of statement.specifiers ?? []) {
        const from = statement.source == null ? file : this.#resolve(file, statement.source.value);
        found.set(exported.name, this.#declarationOf(from, local.name));
      }
    }
    return found;
  }

  /** All overloads of a name, wherever the file takes the name from. */
  #declarationOf(file: string, name: string): Declared {
    const { text, body } = this.#module(file);
    const own = body.filter(
      (statement) => namesOf(statement).includes(name) || localNamesOf(statement).includes(name),
    );
    if (own.length > 0)
      return {
        file,
        text: own.map(({ start, end }) => withoutComments(text.slice(start, end))).join('\n'),
      };
    for (const { type, source, specifiers = [] } of body) {
      const through = specifiers.find(
        (each) =>
          (type === 'ExportNamedDeclaration' ? each.exported.name : each.local.name) === name,
      );
      if (through === undefined || source == null) continue;
      const imported =
        (through as { imported?: { name: string } }).imported?.name ?? through.local.name;
      return this.#declarationOf(this.#resolve(file, source.value), imported);
    }
    throw new Error(`${file} does not declare ${name}.`);
  }

  #resolve(file: string, specifier: string): string {
    if (specifier.startsWith('.'))
      return join(dirname(file), specifier).replace(/(\.d)?\.(js|ts)$/, '.d.ts');
    const own = file.split('/')[0]!;
    const target = specifier.startsWith('#')
      ? join(own, this.#manifests.get(own)?.imports[specifier] ?? '')
      : this.#exportOf(specifier);
    if (target === undefined || target === own)
      throw new Error(`${file} takes a public name from ${specifier}. Declare it in a package.`);
    return target.replace(/\.js$/, '.d.ts');
  }

  /** The file of another package, by one of its names. */
  #exportOf(specifier: string): string | undefined {
    for (const [folder, { name, exports }] of this.#manifests) {
      if (specifier !== name && !specifier.startsWith(`${name}/`)) continue;
      const subpath = `.${specifier.slice(name.length)}`;
      for (const [pattern, target] of Object.entries(exports)) {
        const [head = '', tail] = pattern.split('*');
        const isMeant =
          tail === undefined
            ? subpath === pattern
            : subpath.startsWith(head) && subpath.endsWith(tail);
        if (typeof target === 'string' || !isMeant) continue;
        return join(
          folder,
          target.types.replace(
            '*',
            subpath.slice(head.length, subpath.length - (tail ?? '').length),
          ),
        );
      }
    }
    return undefined;
  }

  #module(file: string): { readonly text: string; readonly body: readonly Statement[] } {
    const path = relative(this.#built, resolve(this.#built, file));
    let read = this.#read.get(path);
    if (read === undefined) {
      const text = readFileSync(join(this.#built, path), 'utf8');
      const { body } = parseAst(text, { lang: 'dts', astType: 'ts' }) as unknown as {
        body: Statement[];
      };
      read = { text, body };
      this.#read.set(path, read);
    }
    return read;
  }
}

/** The names that a statement declares and exports. */
function namesOf({ type, declaration }: Statement): string[] {
  if (type !== 'ExportNamedDeclaration' || declaration == null) return [];
  return declaredIn(declaration);
}

function localNamesOf(statement: Statement): string[] {
  return declaredIn(statement as unknown as NonNullable<Statement['declaration']>);
}

function declaredIn({ id, declarations = [] }: NonNullable<Statement['declaration']>): string[] {
  return [
    ...(id?.name === undefined ? [] : [id.name]),
    ...declarations.map((each) => each.id.name),
  ];
}

/** Docstrings belong to the sources; private members belong to no caller. */
function withoutComments(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*#private;\n/gm, '')
    .replace(/^\s*\n/gm, '')
    .replace(/^export /, '')
    .replace(/^declare /, '');
}

if (process.argv[1] === import.meta.filename) {
  const given = process.argv[2];
  const folder = given ?? mkdtempSync(join(root, 'dist-api-'));
  try {
    if (given === undefined)
      execFileSync(process.execPath, [join(root, 'scripts/build.ts'), basename(folder)], {
        cwd: root,
      });
    writeFileSync(join(root, 'docs/reference/api.md'), apiPage(resolve(folder)));
  } finally {
    if (given === undefined) rmSync(folder, { recursive: true, force: true });
  }
}
