/**
 * The reading order of the package, and the checks that the imports follow it.
 *
 * - A floor imports only the floors on its own line, by their `#` name and never by a path.
 * - A workspace (`domains`, `ontology`, `experiments`) imports only packages and its own files.
 * - No file imports itself through others, types included (`circles`).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** The floors in their reading order, each with the floors that it may import. */
export const LAYERS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  canon: ['base'],
  traces: ['base'],
  schemas: ['base'],
  merkle: ['base', 'canon'],
  ledger: ['base', 'canon', 'merkle'],
  authority: ['base', 'canon'],
  kernel: ['base', 'canon', 'authority'],
  oracle: ['base', 'canon'],
  effects: ['base', 'canon', 'ledger', 'authority'],
  memory: ['base', 'canon', 'ledger'],
  runtime: ['base', 'canon', 'traces', 'merkle', 'ledger', 'authority', 'kernel', 'oracle', 'effects', 'memory'],
  stores: ['base', 'canon', 'merkle', 'ledger', 'oracle', 'memory'],
  config: [
    ...['base', 'canon', 'merkle', 'authority', 'ledger', 'kernel', 'oracle', 'effects', 'memory', 'runtime', 'stores'],
  ],
  agents: ['base', 'canon', 'authority', 'ledger', 'kernel', 'oracle', 'effects', 'runtime', 'stores', 'config'],
  chat: ['base', 'canon', 'authority', 'ledger', 'kernel', 'oracle', 'memory', 'runtime', 'agents'],
  witness: ['base', 'canon', 'merkle'],
  tools: ['base', 'canon', 'schemas', 'authority', 'effects'],
  domains: ['base', 'canon', 'authority', 'kernel', 'runtime', 'stores'],
  cells: ['base', 'canon', 'merkle', 'ledger', 'authority', 'kernel', 'oracle', 'runtime', 'stores'],
  testing: [
    ...['base', 'canon', 'merkle', 'ledger', 'oracle', 'kernel', 'authority', 'effects', 'memory', 'runtime', 'stores'],
  ],
  views: ['base', 'canon', 'ledger', 'kernel', 'effects', 'runtime'],
  compliance: ['base', 'canon', 'kernel', 'merkle', 'ledger', 'runtime'],
  models: ['base', 'canon', 'authority', 'ledger', 'kernel', 'oracle', 'runtime', 'agents'],
  architectures: ['base', 'canon', 'authority', 'kernel', 'oracle', 'runtime', 'stores', 'models'],
  incidents: ['base', 'canon', 'authority', 'ledger', 'kernel', 'runtime', 'domains', 'config'],
  calls: [
    ...['base', 'canon', 'traces', 'authority', 'ledger', 'kernel', 'oracle', 'effects', 'runtime', 'stores'],
    ...['domains', 'config', 'views'],
  ],
  mining: ['base', 'canon', 'ledger', 'authority', 'runtime', 'domains'],
  integrations: ['base', 'canon', 'traces', 'authority', 'kernel', 'oracle', 'agents', 'calls'],
  mcp: ['base', 'canon', 'schemas', 'views'],
  conformance: ['base', 'canon'],
  server: [
    ...['base', 'canon', 'merkle', 'ledger', 'oracle', 'kernel', 'authority', 'effects', 'memory', 'runtime', 'stores'],
    ...['agents', 'chat', 'cells', 'domains', 'incidents', 'config', 'views', 'compliance', 'tools', 'calls'],
    ...['mining', 'mcp', 'architectures'],
  ],
  cli: [
    ...['base', 'canon', 'merkle', 'ledger', 'oracle', 'kernel', 'authority', 'effects', 'memory', 'runtime', 'stores'],
    ...[
      'agents',
      'chat',
      'witness',
      'cells',
      'tools',
      'integrations',
      'calls',
      'domains',
      'incidents',
      'models',
      'config',
      'server',
    ],
    ...['views', 'mcp', 'compliance', 'conformance', 'mining', 'architectures'],
  ],
};

/** The workspaces beside the published package. */
export const WORKSPACES: readonly string[] = ['domains', 'ontology', 'experiments'];

/** Folders with subfolders that do not import each other. */
const APART: readonly string[] = ['src/integrations', 'src/domains', 'domains'];

/** The subfolders that those beside them may import. */
const SHARED: readonly string[] = ['packages/gate/src/tool-calls'];

/**
 * Layers with pure rules: they import no module of Node. `canon` hashes, and `oracle` has the
 * system's clock and random numbers.
 */
const PURE: readonly string[] = [
  'base',
  'traces',
  'merkle',
  'ledger',
  'kernel',
  'authority',
  'memory',
  'agents/extraction',
];

/** The libraries that a folder may import. */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  'runtime/inspect/bundle': ['fflate'],
  schemas: [
    'ajv',
    'ajv/dist/2019.js',
    'ajv/dist/2020.js',
    'ajv/dist/refs/json-schema-draft-06.json',
    'ajv-draft-04',
    'ajv-formats',
  ],
  kernel: ['zod'],
  effects: ['zod'],
  'agents/extraction': ['zod'],
  'stores/archive': ['aws4fetch'],
  'stores/postgres': ['pg'],
  'stores/sqlite': ['sqlite-vec'],
  testing: ['vitest', 'fast-check', 'zod'],
  tools: ['zod'],
  'tools/browser': ['playwright-core', 'zod'],
  'tools/mail': ['nodemailer/lib/mail-composer', 'nodemailer/lib/smtp-connection', 'zod'],
  'integrations/cedar': ['@cedar-policy/cedar-wasm', '@cedar-policy/cedar-wasm/nodejs', 'zod'],
  'integrations/ai': ['ai'],
  'integrations/langchain': [
    ...['langchain', '@langchain/core/messages', '@langchain/core/tools'],
    ...['@langchain/langgraph', '@langchain/langgraph/prebuilt'],
  ],
  'integrations/openai-agents': ['@openai/agents', '@openai/agents/utils'],
  'integrations/otel': ['@opentelemetry/api'],
  domains: ['zod', 'assize', 'assize/unstable/domains/budget'],
  'domains/gateway': ['zod', 'yaml'],
  chat: ['zod'],
  models: ['zod'],
  architectures: ['zod'],
  views: ['zod'],
  conformance: ['zod'],
  cells: ['yaml', 'zod'],
  config: ['zod'],
  mining: ['yaml'],
  mcp: [
    ...['@modelcontextprotocol/client', '@modelcontextprotocol/client/stdio'],
    ...['@modelcontextprotocol/server', '@modelcontextprotocol/server/stdio'],
  ],
  'mcp/serve': ['zod'],
  server: ['hono', 'hono/route', '@hono/node-server', 'jose', 'openid-client', 'zod'],
  'server/hooks': ['unbash'],
  cli: ['commander', 'picocolors', 'cli-table3', 'zod'],
  'cli/commands/init': ['commander', 'jsonc-parser', 'smol-toml', 'yaml', 'zod'],
};

export interface Violation {
  readonly file: string;
  readonly specifier: string;
  readonly why: string;
}

/** Every import of the sources that the layers do not allow. */
export function violations(root: string): Violation[] {
  return sourcesOf(root).flatMap((file) =>
    specifiers(readFileSync(join(root, file), 'utf8')).flatMap((specifier) => {
      const why = judge(file, specifier);
      return why === undefined ? [] : [{ file, specifier, why }];
    }),
  );
}

/**
 * Every cycle of imports between the files of `src`, types included. A cycle is the list of files
 * that import each other.
 */
export function circles(root: string): string[][] {
  const files = sourcesOf(root).filter((file) => file.startsWith('src/') && !file.endsWith('.test.ts'));
  const known = new Set(files);
  const imports = new Map(
    files.map((file) => [
      file,
      specifiers(readFileSync(join(root, file), 'utf8'))
        .map((specifier) => targetOf(file, specifier))
        .filter((target): target is string => target !== undefined && known.has(target)),
    ]),
  );
  return stronglyConnected(imports).filter((files) => files.length > 1);
}

/** Paths relative to the root, in their order. */
function sourcesOf(root: string): string[] {
  return ['src', ...WORKSPACES].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.parentPath.includes('node_modules'))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      .sort(),
  );
}

/** Static and dynamic imports, types included. */
export function specifiers(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  const found = code.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)['"]([^'"\s]+)['"]/g);
  return [...found].map((match) => match[1] as string);
}

/** The file of this repository that a specifier names, or undefined for a library. */
function targetOf(file: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return relative('/', resolve('/', dirname(file), specifier));
  return specifier.startsWith('#') ? `src/${specifier.slice(1)}/index.ts` : undefined;
}

function isTest(file: string): boolean {
  return file.endsWith('.test.ts') || file.includes('/testing/');
}

function judge(file: string, specifier: string): string | undefined {
  const workspace = WORKSPACES.find((folder) => file.startsWith(`${folder}/`));
  if (workspace !== undefined) return judgeWorkspace(file, workspace, specifier);
  if (file.startsWith('src/public/'))
    return specifier.startsWith('#') ? undefined : 'a subpath of the package exports floors by their # names';
  return judgeFloor(file, specifier);
}

function judgeFloor(file: string, specifier: string): string | undefined {
  const floor = /^src\/([^/]+)\//.exec(file)?.[1] ?? '';
  const may = LAYERS[floor];
  if (may === undefined) return `src/${floor} is in no layer; add it to scripts/layers.ts`;
  const inTest = isTest(file);
  if (specifier.startsWith('.')) {
    const target = targetOf(file, specifier) as string;
    if (inTest && /^(tests|src\/testing)\//.test(target)) return undefined;
    if (!target.startsWith(`src/${floor}/`)) return 'import another folder by its # name';
    return isApart(file, target) ? `${apartOf(file)} imports no folder beside it` : undefined;
  }
  if (specifier.startsWith('#')) {
    const target = (specifier.slice(1).split('/') as [string])[0];
    const allowed = inTest ? Object.keys(LAYERS) : may;
    return allowed.includes(target) ? undefined : `src/${floor} may import ${may.join(', ') || 'no other folder'}`;
  }
  if (inTest) return undefined;
  if (specifier.startsWith('node:'))
    return PURE.some((folder) => file.startsWith(`src/${folder}/`))
      ? `src/${floor} is pure: it imports no module of Node`
      : undefined;
  const allowed = Object.entries(LIBRARIES).flatMap(([folder, names]) =>
    file.startsWith(`src/${folder}/`) ? names : [],
  );
  return allowed.includes(specifier)
    ? undefined
    : `src/${floor} depends on no library but ${allowed.join(', ') || 'none'}`;
}

function judgeWorkspace(file: string, workspace: string, specifier: string): string | undefined {
  if (specifier.startsWith('#')) return `${workspace} imports packages, as assize/internal/…`;
  if (!specifier.startsWith('.')) return undefined;
  const target = targetOf(file, specifier) as string;
  if (isTest(file) && target.startsWith('tests/')) return undefined;
  if (!target.startsWith(`${workspace}/`)) return `${workspace} imports packages and its own files`;
  return isApart(file, target) ? `${apartOf(file)} imports no folder beside it` : undefined;
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
  return own !== undefined && ![own, ...SHARED].some((folder) => target.startsWith(`${folder}/`));
}

/** Tarjan's algorithm: the sets of files of which each reaches each other. */
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
      if (stack.includes(target)) low.set(file, Math.min(low.get(file) as number, low.get(target) as number));
    }
    if (low.get(file) === index.get(file)) found.push(stack.splice(stack.indexOf(file)).sort());
  };
  for (const file of imports.keys()) if (!index.has(file)) visit(file);
  return found;
}
