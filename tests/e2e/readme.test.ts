import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

function block(language: string): string {
  return readme.split(`\`\`\`${language}\n`)[1]?.split('\n```')[0] ?? '';
}

// Inside the repository, so that `assize` is this package.
const folder = mkdtempSync(join(root, 'dist-readme-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
for (const name of ['team.ts', 'expenses.ts', 'claim.ts']) writeFileSync(join(folder, name), block(`ts ${name}`));

const run = (name: string): string[] =>
  execFileSync(process.execPath, [name], { cwd: folder, encoding: 'utf8' })
    .trimEnd()
    .split('\n')
    .map((line) => line.trim());

test('the domain of the README runs and prints what it says', () => {
  expect(run('team.ts')).toEqual(['45000 committed', '60000 rejected BUDGET_CAP: spent 105000 of 100000', 'true 3']);
});

test('the domain that escalates does, stops nobody else, and a manager approves it from the command line', () => {
  const printed = run('claim.ts');
  const said = block('ts claim.ts').matchAll(/^\/\/ (escalated|npx|frozen|committed)(.*)$/gm);
  expect(printed.map((line) => line.replace(/[0-9a-f]{64}/, '…'))).toEqual(
    [...said].map(([, is, more]) => `${is}${more}`),
  );

  const id = /[0-9a-f]{64}/.exec(printed[1] ?? '')?.[0] as string;
  const main = join(root, 'src/cli/main.ts');
  const script = block('sh approve').replaceAll('npx assize', `"${process.execPath}" "${main}"`).replace('ID', id);
  const env = { ...process.env, NO_COLOR: '1' };
  const told = execFileSync('sh', ['-eu', '-c', script], { cwd: folder, env, encoding: 'utf8' });
  expect(told).toMatch(/LARGE_CLAIMS_ARE_APPROVED: \/claims\/ada\/desk: 5000 is a lot$/m);
  const [, trajectory = ''] = /^committed as [0-9a-f]{12}, (\S+) seq 3$/m.exec(told) ?? [];
  const { claims } = JSON.parse(
    execFileSync(process.execPath, [main, 'state', trajectory, '--store', 'sqlite:./expenses.db'], {
      cwd: folder,
      encoding: 'utf8',
    }),
  );
  expect(claims.ada.desk).toEqual({ amount: 5_000, approvedBy: 'manager:grace' });
  // By their names, whoever came first.
  expect(Object.keys(claims)).toEqual(['ada', 'ben']);
});

test('the README names exactly two commands, and both are scripts', () => {
  const commands = block('sh')
    .split('\n')
    .map((line) => line.split('#')[0]?.trim());
  expect(commands).toEqual(['npm ci && npm start', 'npm ci && npm test']);
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['start', 'test']));
});
