import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type AgentGuide, beginAgentGuide } from './followed-guide.ts';

/** One step of a day of work. An edit replaces whole lines, and `note` is what is to be done. */
export type Step =
  | { readonly read: string }
  | { readonly search: string; readonly in: string }
  | { readonly find: string }
  | { readonly create: string; readonly text: string }
  | { readonly edit: string; readonly from: string; readonly to: string }
  | { readonly note: readonly string[] }
  | { readonly run: string };

/** The shop whose prices get a discount. */
const FILES: Readonly<Record<string, string>> = {
  'package.json': `{
  "name": "shop",
  "version": "1.0.0",
  "type": "module",
  "scripts": { "test": "node --test", "lint": "node --check src/cart.js" }
}
`,
  'README.md': '# Shop\n\nPrices and carts.\n',
  'src/price.js': 'export const price = (cents) => (cents / 100).toFixed(2);\n',
  'src/cart.js': `import { price } from './price.js';

// Discounts come later.
export const total = (items) => price(items.reduce((sum, { cents }) => sum + cents, 0));
`,
  'test/cart.test.js': `import assert from 'node:assert';
import { test } from 'node:test';
import { total } from '../src/cart.js';

test('the total of two items', () => {
  assert.equal(total([{ cents: 150 }, { cents: 50 }]), '2.00');
});
`,
  'docs/notes.md': 'Customers with ten orders get five percent.\n',
  '.gitignore': '.env\nbuild/\n',
  '.env': 'SHOP_KEY=canary-of-the-shop\n',
};

/** Makes the project, a repository with a history and a remote beside it. */
export function makeShop(project: string): void {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  const git = gitIn(project);
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.com');
  git('add', '.');
  git('commit', '-q', '-m', 'feat: sell things');
  git('init', '-q', '--bare', `${project}.git`);
  git('remote', 'add', 'origin', `${project}.git`);
  git('push', '-q', 'origin', 'main');
}

const DISCOUNT = 'export const discount = (cents, orders) => (orders < 10 ? cents : cents * 0.95);';

/** Puts the project and its remote back to how they were made. */
export function resetShop(project: string): void {
  const git = gitIn(project);
  git('checkout', '-qf', 'main');
  git('reset', '-q', '--hard', ':/feat: sell things');
  git('branch', '-D', 'feature/discount');
  git('clean', '-fdq');
  rmSync(join(project, 'build'), { recursive: true, force: true });
  git('push', '-qf', 'origin', 'main');
}

function gitIn(cwd: string): (...args: readonly string[]) => void {
  return (...args) => void execFileSync('git', args, { cwd, stdio: 'ignore' });
}

/** A feature with its tests, from the first look to the merge. The rules ask about the push. */
export const DAY: readonly Step[] = [
  { note: ['write a test', 'write the discount', 'merge'] },
  { run: 'git status --short' },
  { run: 'git log --oneline -5' },
  { run: 'ls -la' },
  { find: 'src/**/*.js' },
  { read: 'package.json' },
  { read: 'src/price.js' },
  { read: 'src/cart.js' },
  { read: 'test/cart.test.js' },
  { read: 'docs/notes.md' },
  { read: 'README.md' },
  { search: 'price', in: 'src' },
  { search: 'discount', in: '.' },
  { run: 'cat src/*.js | wc -l' },
  { run: 'grep -rn "total" src test | head -20' },
  { run: 'git log -3 --stat' },
  { run: 'git checkout -b feature/discount' },
  { run: 'npm test' },
  {
    create: 'test/discount.test.js',
    text: `import assert from 'node:assert';
import { test } from 'node:test';
import { discount } from '../src/discount.js';

test('ten orders get five percent', () => {
  assert.equal(discount(1000, 10), 950);
});
`,
  },
  { run: 'node --test test/discount.test.js 2>&1 | tail -20' },
  { create: 'src/discount.js', text: `${DISCOUNT}\n` },
  { run: 'npm test 2>&1 | tail -15' },
  {
    edit: 'src/cart.js',
    from: "import { price } from './price.js';\n\n// Discounts come later.\n",
    to: "import { discount } from './discount.js';\nimport { price } from './price.js';\n\n",
  },
  {
    edit: 'src/cart.js',
    from: 'export const total = (items) => price(items.reduce((sum, { cents }) => sum + cents, 0));',
    to: 'export const total = (items, orders = 0) =>\n  price(discount(items.reduce((sum, { cents }) => sum + cents, 0), orders));',
  },
  { run: 'git diff' },
  { run: 'npm test' },
  { note: ['round', 'merge'] },
  { read: 'src/cart.js' },
  { run: 'for f in src/*.js; do wc -l "$f"; done' },
  { search: 'later', in: '.' },
  {
    edit: 'src/discount.js',
    from: DISCOUNT,
    to: DISCOUNT.replace('cents * 0.95', 'Math.round(cents * 0.95)'),
  },
  { run: 'node --check src/discount.js' },
  { run: 'npm run lint' },
  { edit: 'package.json', from: '  "version": "1.0.0",', to: '  "version": "1.1.0",' },
  { edit: 'README.md', from: 'Prices and carts.', to: 'Prices, carts and discounts.' },
  { run: 'git add -A' },
  {
    run: `git commit -m "$(cat <<'EOF'
feat: give customers with ten orders a discount

Five percent, rounded to a cent.
EOF
)"`,
  },
  { run: 'git status' },
  { run: 'git show --stat HEAD' },
  { run: "sed -n '1,20p' src/discount.js" },
  { run: 'mkdir -p build && cp src/*.js build/' },
  { run: 'ls build' },
  { run: 'diff -r src build && echo same' },
  { run: "find . -name '*.js' -not -path './node_modules/*' | head -20" },
  { run: "sort README.md docs/notes.md | uniq -c | sort -rn | awk '{ print $1 }'" },
  { create: 'CHANGELOG.md', text: '## 1.1.0\n\n- Customers with ten orders get five percent.\n' },
  { run: 'git diff --stat' },
  { run: 'git add CHANGELOG.md && git commit -m "docs: list the discount"' },
  { search: 'discount', in: 'test' },
  { read: 'test/discount.test.js' },
  {
    edit: 'test/discount.test.js',
    from: '  assert.equal(discount(1000, 10), 950);',
    to: '  assert.equal(discount(1000, 10), 950);\n  assert.equal(discount(1000, 9), 1000);',
  },
  { run: 'npm test' },
  { run: 'git stash && git stash pop' },
  { run: 'git commit -am "test: have nine orders, too"' },
  { run: 'git log --oneline main..HEAD' },
  { run: 'git diff main...HEAD --stat' },
  { run: 'git switch main' },
  { run: 'git merge --no-edit feature/discount' },
  { run: 'npm test' },
  { run: 'git branch --merged' },
  { run: 'git push origin main' },
  { run: 'git status -sb' },
  { read: 'CHANGELOG.md' },
  { note: [] },
];

/** The machine of a person: a shop, a server of the guides, and the command of an agent program. */
export interface ShopPlace extends AgentGuide {
  readonly project: string;
  readonly pushed: () => string;
}

export async function beginShop(
  env: Record<string, string>,
  agent: { readonly name: string; readonly program: string },
): Promise<ShopPlace> {
  const place = await beginAgentGuide(env, agent);
  const project = join(place.guide.folder, 'shop');
  makeShop(project);
  const pushed = (): string =>
    execFileSync('git', ['rev-parse', 'main'], { cwd: `${project}.git`, encoding: 'utf8' });
  return { ...place, project, pushed };
}

export const CONFIG = '--config ~/.assize/assize.config.json';

/** The rules in force that asked or refused, a line for each call, with the part that it met. */
export function askedIn({ guide }: ShopPlace): readonly string[] {
  const { rules } = JSON.parse(guide.sh(`assize rules report --json ${CONFIG}`)) as {
    readonly rules: readonly Reported[];
  };
  return rules
    .filter(({ set }) => set === 'force')
    .flatMap(({ ruling, rule, calls, examples }) =>
      Array.from({ length: calls }, (_, i) => `${ruling} ${rule}: ${examples[i]?.why ?? 'more'}`),
    );
}

interface Reported {
  readonly set: string;
  readonly rule: string;
  readonly ruling: string;
  readonly calls: number;
  readonly examples: readonly { readonly why: string }[];
}

/** Puts what observes in force, and starts the server again. */
export async function enforce({ guide }: ShopPlace, page: string): Promise<void> {
  guide.sh(`assize rules promote ${CONFIG} --as "human:$(id -un)"`);
  await guide.beginWith(page);
}
