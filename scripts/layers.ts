/**
 * The reading order of the packages and of their rooms, and the checks that the imports follow it.
 *
 * - A package imports only the packages that its package.json names, and those stand before it.
 * - A room, a folder of `src`, imports only the rooms on its own line, by their `#` name.
 * - In the rooms of `FOLDERS`, a folder imports only its own files and the folders before it.
 * - A workspace (`labs`, `examples`) imports only packages and its own files; `labs` also
 *   `examples`.
 * - No file imports itself through others, types included (`circles`).
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const CORE = [
  'base',
  'canon',
  'merkle',
  'ledger',
  'authority',
  'kernel',
  'oracle',
  'effects',
  'memory',
  'runtime',
];

/**
 * The packages in their reading order, each with its rooms and the rooms of the package that these
 * may import. `src` is what is in no other room.
 */
export const PACKAGES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  assize: {
    base: [],
    canon: ['base'],
    traces: ['base'],
    merkle: ['base', 'canon'],
    ledger: ['base', 'canon', 'merkle'],
    authority: ['base', 'canon'],
    kernel: ['base', 'canon', 'authority'],
    oracle: ['base', 'canon'],
    effects: ['base', 'canon', 'ledger', 'authority'],
    memory: ['base', 'canon', 'ledger'],
    runtime: [
      'base',
      'canon',
      'traces',
      'merkle',
      'ledger',
      'authority',
      'kernel',
      'oracle',
      'effects',
      'memory',
    ],
    stores: ['base', 'canon', 'merkle', 'ledger', 'oracle', 'memory'],
    views: ['base', 'canon', 'ledger', 'kernel', 'effects', 'runtime'],
    config: [...CORE, 'stores'],
    public: [...CORE, 'stores', 'config'],
  },
  postgres: { src: [] },
  tools: { schemas: [], src: ['schemas'] },
  command: { operation: [], src: ['operation'] },
  testing: { conformance: [], commands: ['conformance'], src: [], public: ['src', 'conformance'] },
  agents: {
    agents: [],
    models: ['agents'],
    chat: ['agents'],
    commands: ['agents', 'models', 'chat'],
    operations: ['agents', 'chat'],
    public: ['agents', 'models', 'chat'],
  },
  gate: {
    gateway: [],
    reach: ['gateway'],
    calls: ['gateway', 'reach'],
    'tool-calls': ['calls'],
    mining: ['gateway'],
    mcp: ['gateway', 'reach'],
    hooks: ['gateway', 'reach', 'calls'],
    commands: ['gateway', 'reach', 'calls', 'mcp', 'mining', 'hooks'],
    operations: ['gateway', 'calls', 'hooks'],
    public: ['calls', 'gateway'],
  },
  audit: {
    export: [],
    checkpoints: [],
    bundle: ['checkpoints'],
    replay: [],
    blast: [],
    witness: [],
    compliance: [],
    'incident-domain': [],
    incidents: ['blast', 'incident-domain'],
    commands: [
      'checkpoints',
      'replay',
      'blast',
      'witness',
      'compliance',
      'incident-domain',
      'incidents',
    ],
    operations: [
      'checkpoints',
      'bundle',
      'replay',
      'blast',
      'compliance',
      'incident-domain',
      'incidents',
    ],
    public: ['export', 'checkpoints', 'bundle', 'replay', 'blast', 'compliance', 'incidents'],
  },
  'ai-sdk': { src: [] },
  langchain: { src: [] },
  'openai-agents': { src: [] },
  mastra: { src: [] },
  engines: { src: [] },
  opentelemetry: { src: [] },
  cedar: { src: [] },
  client: { src: [] },
  server: { src: [] },
  cells: { src: [] },
  cli: { src: [] },
  'create-assize': {},
};

/**
 * The folders of the large rooms, in their reading order. A file beside the folders may import them
 * all.
 */
export const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  'packages/assize/src/kernel/': ['domain/', 'state/', 'judge/'],
  'packages/assize/src/ledger/': ['entry/', 'ports/', 'rules/', 'replay/', 'log/'],
  'packages/assize/src/runtime/': [
    ...['authority/', 'records/', 'writer/'],
    ...['limits/', 'coordination/', 'settle/', 'log/', 'engine/', 'body/', 'commit/'].map(
      (folder) => `transactions/${folder}`,
    ),
    ...['memory/visible/', 'memory/plan/', 'memory/maintain/', 'lineage/', 'memory/recall/'],
    ...['approve/pending/', 'approve/decide/', 'approve/', 'inspect/', 'propose/'],
    ...['delegate/', 'upgrade/', 'erase/', 'memory/'],
  ],
  'packages/server/src/': [
    ...[
      'log/',
      'problems/',
      'principals/',
      'card/',
      'notices/',
      'events/',
      'activity/',
      'background/',
      'operations/',
      'routing/',
    ],
    ...['http/requests/', 'http/', 'commands/'],
  ],
};

/** The rooms of the core that a room of another package imports, where they are not all. */
const FROM_CORE: Readonly<Record<string, readonly string[]>> = {
  'postgres/src': ['base', 'canon', 'merkle', 'ledger', 'oracle', 'memory', 'stores'],
  'tools/schemas': ['base'],
  'tools/src': ['base', 'canon', 'authority', 'effects'],
  'testing/conformance': ['base', 'canon'],
  'command/src': [...CORE, 'stores', 'config', 'views'],
  'cells/src': [...CORE, 'stores', 'config', 'views'],
  'agents/agents': [...CORE, 'stores', 'config'],
  'agents/models': ['base', 'canon', 'authority', 'ledger', 'kernel', 'oracle', 'runtime'],
  'agents/chat': ['base', 'canon', 'authority', 'ledger', 'kernel', 'oracle', 'memory', 'runtime'],
  'gate/gateway': ['base', 'canon', 'authority', 'kernel', 'runtime', 'stores'],
  'gate/calls': [
    ...CORE.filter((room) => room !== 'merkle' && room !== 'memory'),
    'traces',
    'stores',
    'config',
    'views',
  ],
  'gate/tool-calls': ['base', 'canon', 'traces', 'authority', 'kernel', 'oracle'],
  'gate/mining': ['base', 'canon', 'ledger', 'authority', 'runtime'],
  'gate/mcp': ['base', 'canon', 'views'],
  'audit/export': ['base', 'canon', 'merkle', 'ledger'],
  'audit/checkpoints': [
    'base',
    'canon',
    'merkle',
    'ledger',
    'oracle',
    'effects',
    'memory',
    'runtime',
  ],
  'audit/bundle': ['base', 'canon', 'merkle', 'ledger', 'authority', 'oracle', 'runtime'],
  'audit/replay': CORE.filter((room) => room !== 'merkle'),
  'audit/blast': ['base', 'canon', 'ledger', 'effects', 'memory', 'runtime'],
  'agents/commands': [...CORE, 'stores', 'config', 'views'],
  'gate/commands': [...CORE, 'stores', 'config', 'views'],
  'audit/commands': [...CORE, 'stores', 'config', 'views'],
  'audit/witness': ['base', 'canon', 'merkle'],
  'audit/compliance': ['base', 'canon', 'kernel', 'merkle', 'ledger', 'runtime'],
  'audit/incident-domain': ['base', 'canon', 'authority', 'kernel', 'runtime', 'stores'],
  'audit/incidents': ['base', 'canon', 'authority', 'ledger', 'kernel', 'runtime', 'config'],
};

/** The workspaces beside the packages. Each may import those after it. */
export const WORKSPACES: readonly string[] = ['labs', 'examples'];

/** Folders with subfolders that do not import each other. */
const APART: readonly string[] = ['packages/cli/src/domains'];

/**
 * Folders with pure rules: they import no module of Node. `canon` hashes, and `oracle` has the
 * system's clock and random numbers.
 */
const PURE: readonly string[] = [
  ...['base', 'traces', 'merkle', 'ledger', 'kernel', 'authority', 'memory'].map(
    (room) => `packages/assize/src/${room}/`,
  ),
  'packages/agents/src/agents/extraction/',
];

/** The libraries of the first package, each with the only folders that import it. */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  zod: ['kernel', 'effects', 'views', 'config'],
  aws4fetch: ['stores/archive'],
  'sqlite-vec': ['stores/sqlite'],
  '@assize/postgres': ['stores'],
};

export interface Violation {
  readonly file: string;
  readonly specifier: string;
  readonly why: string;
}

interface Manifest {
  readonly name: string;
  readonly imports?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** The packages of a repository, as their manifests declare them. */
class Packages {
  /** By folder. */
  readonly #manifests: ReadonlyMap<string, Manifest>;

  constructor(root: string) {
    const folders = globSync('packages/*/package.json', { cwd: root }).map((file) => dirname(file));
    this.#manifests = new Map(
      folders.map((folder) => [
        folder,
        JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')),
      ]),
    );
  }

  /** The folder of a package that a specifier names, or undefined for a library. */
  folderOf(specifier: string): string | undefined {
    const name = libraryOf(specifier);
    return [...this.#manifests].find(([, manifest]) => manifest.name === name)?.[0];
  }

  /** Whether a package works without the other one: it loads that only where a user asks for it. */
  isOptional(folder: string | undefined, specifier: string): boolean {
    return (
      this.#manifests.get(folder ?? '')?.peerDependenciesMeta?.[libraryOf(specifier)]?.optional ===
      true
    );
  }

  needsOf(folder: string): readonly string[] {
    const { dependencies = {}, peerDependencies = {} } = this.#manifests.get(folder)!;
    return [...Object.keys(dependencies), ...Object.keys(peerDependencies)];
  }

  /** The file of this repository that a specifier names, or undefined for a library. */
  targetOf(file: string, specifier: string): string | undefined {
    if (specifier.startsWith('.')) return relative('/', resolve('/', dirname(file), specifier));
    const own = packageFolder(file);
    if (specifier.startsWith('#')) {
      const path = own === undefined ? undefined : this.#manifests.get(own)?.imports?.[specifier];
      return path === undefined ? undefined : join(own!, path);
    }
    const folder = this.folderOf(specifier);
    if (folder === undefined || this.isOptional(own, specifier)) return undefined;
    const { name, exports = {} } = this.#manifests.get(folder)!;
    const subpath = `.${specifier.slice(name.length)}`;
    const direct = exports[subpath];
    if (direct !== undefined) return join(folder, direct);
    for (const [pattern, path] of Object.entries(exports)) {
      const [head = '', tail] = pattern.split('*');
      if (tail === undefined || !subpath.startsWith(head) || !subpath.endsWith(tail)) continue;
      return join(
        folder,
        path.replace('*', subpath.slice(head.length, subpath.length - tail.length)),
      );
    }
    return undefined;
  }
}

/** Every import of the sources that the reading order does not allow. */
export function violations(root: string): Violation[] {
  const packages = new Packages(root);
  return sourcesOf(root).flatMap((file) =>
    specifiers(readFileSync(join(root, file), 'utf8')).flatMap((specifier) => {
      const why = judge(packages, file, specifier);
      return why === undefined ? [] : [{ file, specifier, why }];
    }),
  );
}

/**
 * Every cycle of imports between the files of the packages, types included. A cycle is the list of
 * files that import each other.
 */
export function circles(root: string): string[][] {
  const packages = new Packages(root);
  const files = sourcesOf(root).filter(
    (file) => file.startsWith('packages/') && !file.endsWith('.test.ts'),
  );
  const known = new Set(files);
  const imports = new Map(
    files.map((file) => [
      file,
      specifiers(readFileSync(join(root, file), 'utf8'))
        .map((specifier) => packages.targetOf(file, specifier))
        .filter((target): target is string => target !== undefined && known.has(target)),
    ]),
  );
  return stronglyConnected(imports).filter((files) => files.length > 1);
}

/** Paths relative to the root, in their order. */
function sourcesOf(root: string): string[] {
  return globSync(['packages/*/src/**/*.ts', ...WORKSPACES.map((folder) => `${folder}/**/*.ts`)], {
    cwd: root,
    exclude: (path) => path.includes('node_modules'),
  }).sort();
}

/** Static and dynamic imports, types included. */
export function specifiers(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  const found = code.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)['"]([^'"\s]+)['"]/g);
  return [...found].map((match) => match[1] as string);
}

/** `testing` is test support, but for its suite of conformance and its command. */
function isTest(file: string): boolean {
  const isSupport =
    file.startsWith('packages/testing/') && !/\/(conformance|commands)\//.test(file);
  return (
    file.endsWith('.test.ts') ||
    isSupport ||
    file.replace('packages/testing/', '').includes('/testing/')
  );
}

function judge(packages: Packages, file: string, specifier: string): string | undefined {
  const workspace = WORKSPACES.find((folder) => file.startsWith(`${folder}/`));
  if (workspace !== undefined) return judgeWorkspace(packages, file, workspace, specifier);
  const folder = packageFolder(file)!;
  if (specifier.startsWith('.') || specifier.startsWith('#'))
    return judgeInside(packages, file, specifier);
  if (isTest(file)) return undefined;
  if (specifier.startsWith('node:'))
    return PURE.some((pure) => file.startsWith(pure))
      ? `${roomOf(file)} is pure: it imports no module of Node`
      : undefined;
  const library = libraryOf(specifier);
  if (packages.folderOf(specifier) !== folder && !packages.needsOf(folder).includes(library))
    return `${folder}/package.json does not name ${library}`;
  const order = Object.keys(PACKAGES).map((name) => `packages/${name}`);
  const other = packages.folderOf(specifier);
  if (other === order[0] && folder !== order[0]) return judgeFromCore(packages, file, specifier);
  if (other !== undefined && !packages.isOptional(folder, specifier))
    return order.indexOf(other) <= order.indexOf(folder)
      ? undefined
      : `${other} stands after ${folder}`;
  const only = folder === order[0] ? (LIBRARIES[library] ?? []) : undefined;
  return only === undefined || only.some((each) => file.startsWith(`${folder}/src/${each}/`))
    ? undefined
    : `only ${only.join(', ') || 'no folder'} of ${folder} imports ${library}`;
}

/** Imports of the core by other packages. Its entries are for all. */
function judgeFromCore(packages: Packages, file: string, specifier: string): string | undefined {
  const target = packages.targetOf(file, specifier);
  if (target === undefined) return `the core has no ${specifier}`;
  const room = roomOf(target);
  const may = FROM_CORE[`${packageFolder(file)!.slice('packages/'.length)}/${roomOf(file)}`];
  return may === undefined || room === 'public' || may.includes(room)
    ? undefined
    : `${roomOf(file)} may import ${may.join(', ')} of the core`;
}

/** Imports of a package's own files. */
function judgeInside(packages: Packages, file: string, specifier: string): string | undefined {
  const folder = packageFolder(file)!;
  const target = packages.targetOf(file, specifier);
  if (target === undefined) return `${folder}/package.json has no import ${specifier}`;
  if (isTest(file) && /^(tests|examples)\//.test(target)) return undefined;
  if (!target.startsWith(`${folder}/`)) return 'import another package by its name';
  const [room, other] = [roomOf(file), roomOf(target)];
  const may = PACKAGES[folder.slice('packages/'.length)]?.[room];
  if (may === undefined) return `${dirname(file)} is in no room; add it to scripts/layers.ts`;
  if (room === other)
    return isApart(file, target)
      ? `${apartOf(file)} imports no folder beside it`
      : judgeFolders(file, target);
  if (isTest(file)) return undefined;
  if (specifier.startsWith('.') && room !== 'public') return 'import another room by its # name';
  return may.includes(other)
    ? undefined
    : `${room} may import ${may.join(', ') || 'no other room'}`;
}

/** Imports between the folders of a room. */
function judgeFolders(file: string, target: string): string | undefined {
  const room = Object.keys(FOLDERS).find((each) => file.startsWith(each));
  if (room === undefined || isTest(file)) return undefined;
  const folders = FOLDERS[room]!;
  const placeOf = (path: string): number =>
    folders.findIndex((folder) => path.startsWith(`${room}${folder}`));
  const [own, other] = [placeOf(file), placeOf(target)];
  if (own < 0 && file.slice(room.length).includes('/'))
    return `${dirname(file)} is in no folder; add it to scripts/layers.ts`;
  return own >= 0 && other > own
    ? `${folders[own]} may not import ${folders[other]}: that stands after it`
    : undefined;
}

function judgeWorkspace(
  packages: Packages,
  file: string,
  workspace: string,
  specifier: string,
): string | undefined {
  if (specifier.startsWith('#')) return `${workspace} imports packages, as assize/internal/…`;
  if (!specifier.startsWith('.')) return undefined;
  const target = packages.targetOf(file, specifier) as string;
  if (isTest(file) && target.startsWith('tests/')) return undefined;
  const may = WORKSPACES.slice(WORKSPACES.indexOf(workspace));
  if (!may.some((each) => target.startsWith(`${each}/`)))
    return `${workspace} imports packages and ${may.join(', ')}`;
  return isApart(file, target) ? `${apartOf(file)} imports no folder beside it` : undefined;
}

function packageFolder(file: string): string | undefined {
  return /^packages\/[^/]+/.exec(file)?.[0];
}

/** The room of its package that a file is in. */
function roomOf(file: string): string {
  const [, name = '', folder = ''] = /^packages\/([^/]+)\/src\/(?:([^/]+)\/)?/.exec(file) ?? [];
  const rooms = PACKAGES[name] ?? {};
  return rooms[folder] !== undefined || rooms['src'] === undefined ? folder : 'src';
}

function libraryOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** The subfolder that stands alone and that the file is in. */
function apartOf(file: string): string | undefined {
  const parent = APART.find((folder) => file.startsWith(`${folder}/`));
  if (parent === undefined) return undefined;
  const [own, ...below] = file.slice(parent.length + 1).split('/') as [string];
  return below.length > 0 ? `${parent}/${own}` : undefined;
}

function isApart(file: string, target: string): boolean {
  const own = apartOf(file);
  return own !== undefined && !target.startsWith(`${own}/`);
}

/** Tarjan's algorithm: the sets of files that all reach each other. */
function stronglyConnected(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const found: string[][] = [];
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const visit = (file: string): void => {
    index.set(file, index.size);
    low.set(file, index.get(file) as number);
    stack.push(file);
    for (const target of imports.get(file) ?? []) {
      if (!index.has(target)) visit(target);
      if (stack.includes(target))
        low.set(file, Math.min(low.get(file) as number, low.get(target) as number));
    }
    if (low.get(file) === index.get(file)) found.push(stack.splice(stack.indexOf(file)).sort());
  };
  for (const file of imports.keys()) if (!index.has(file)) visit(file);
  return found;
}
