/** Each domain that has an ontology is the one that its ontology describes. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { detectionVector } from '@assize/testing';
import type { Domain } from 'assize';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DOMAIN_FOLDERS, domainFolder } from '../../../tests/support/process/domain-folders.ts';
import {
  check,
  compare,
  deriveInvariants,
  deriveRoles,
  fingerprint,
  type Ontology,
  parse,
  scaffold,
} from '../index.ts';

const root = join(import.meta.dirname, '../../..');
const NAMES = DOMAIN_FOLDERS.map((path) => basename(path));

/** Domains without a precondition among their rules, with the reason. */
const WITHOUT_PRECONDITIONS: Readonly<Record<string, string>> = {
  budget: 'BUDGET_CAP looks at the cap; spenders do not read it, and no process writes it',
};

const read = (name: string): Ontology =>
  parse(readFileSync(join(domainFolder(name), 'ontology.ttl'), 'utf8'));

/** By precondition: the processes that wait for it. */
function gatesOf(name: string): Record<string, readonly string[]> {
  const gated = deriveInvariants(read(name)).filter(({ from }) => from === 'precondition');
  return Object.fromEntries(gated.map(({ id, gates }) => [id, gates]));
}

/** The strings between backticks. */
function quoted(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text as string);
}

function isDomain(value: unknown): value is Domain {
  return typeof value === 'object' && value !== null && 'rules' in value && 'bind' in value;
}

async function domainIn(file: string, name: string): Promise<Domain> {
  const found = Object.values((await import(file)) as object).filter(isDomain);
  return found.find((domain) => domain.name === name) as Domain;
}

// Inside the repository, so that `assize` is this package.
const folder = mkdtempSync(join(root, 'dist-scaffold-'));
beforeAll(() => {
  for (const name of NAMES)
    for (const [file, text] of scaffold(read(name))) {
      mkdirSync(dirname(join(folder, name, file)), { recursive: true });
      writeFileSync(join(folder, name, file), text);
    }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../tsconfig.json', include: ['.'] }),
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('budget, udt and airline have theirs', () => {
  expect(NAMES).toEqual(expect.arrayContaining(['airline', 'budget', 'udt']));
});

describe.each(NAMES)('%s', (name) => {
  test('nothing is wrong with its ontology', () => {
    const ignored = check(read(name)).filter(
      ({ code }) => code !== 'no_source' && code !== 'untouched',
    );
    expect(ignored).toEqual([]);
    expect(read(name).domain).toBe(name);
  });

  test('derived roles and invariants are those that it ships', async () => {
    const ontology = read(name);
    const domain = await domainIn(join(domainFolder(name), 'index.ts'), name);
    expect(compare(ontology, domain)).toEqual([]);
    const { roles, disagreements } = deriveRoles(ontology);
    expect(disagreements).toEqual([]);
    const performed = (list: readonly string[]): string[] => [...list].sort();
    expect(Object.fromEntries(roles.map((role) => [role.name, performed(role.processes)]))).toEqual(
      Object.fromEntries(
        Object.entries(domain.roles).map(([role, { processes }]) => [role, performed(processes)]),
      ),
    );
    expect(deriveInvariants(ontology).map(({ id }) => id)).toEqual(
      domain.rules.map(({ id }) => id),
    );
  });

  test('it names preconditions of its processes, or is listed as having none', () => {
    expect(Object.keys(gatesOf(name)).length === 0).toBe(name in WITHOUT_PRECONDITIONS);
  });

  test('each role is well-formed: a process of it needs each component', () => {
    const ontology = read(name);
    for (const { footprint, needs, processes } of deriveRoles(ontology).roles) {
      expect(needs.map(({ component }) => component)).toEqual(footprint);
      for (const { component, process, way } of needs) {
        expect(processes).toContain(process);
        expect(ontology.processes.find((one) => one.process === process)?.[way]).toContain(
          component,
        );
      }
    }
  });

  test('each fingerprint has a witness', () => {
    const { conclusion, ...verdicts } = fingerprint(read(name));
    expect(conclusion).not.toBe('');
    for (const { witness } of Object.values(verdicts)) expect(witness.length).toBeGreaterThan(0);
  });

  test('its scaffold is a domain of the same roles and invariants', async () => {
    const made = await domainIn(join(folder, name, 'index.ts'), name);
    expect(compare(read(name), made)).toEqual([]);
    const said = detectionVector(made, made.initial).map(({ result, detail }) => [result, detail]);
    const unwritten = read(name).rules.map(({ onFailure }) => [onFailure, 'not written yet']);
    expect(said).toEqual(unwritten);
  });
});

test('the preconditions of a disclosure and of the processes that lead to it', () => {
  const ontology = read('disclosure');
  expect(gatesOf('disclosure')).toEqual({
    DISCLOSURE_TIMELINE_CONSISTENCY: ['ExecuteDisclosure'],
    PATCH_BEFORE_DISCLOSURE: ['ExecuteDisclosure'],
    EMBARGO_ENFORCEMENT: ['ExecuteDisclosure'],
    CVE_ATTRIBUTION_CONSISTENCY: ['PrepareDisclosure', 'ExecuteDisclosure'],
    DISCLOSURE_COMPLETENESS: ['ExecuteDisclosure'],
    PHASE_FOLLOWS_RECORD: ['SubmitReport', 'NegotiateEmbargo', 'ExecuteDisclosure'],
    PATCH_RESTS_ON_SIGNALS: ['DevelopPatch', 'ReleaseFix'],
  });
  expect(fingerprint(ontology).timedGovernance.witness).toEqual([
    expect.stringContaining('for :CoDisclosureGroup, which PrepareDisclosure sets'),
    expect.stringMatching(/for :EmbargoSpec, which .*NegotiateEmbargo sets$/),
  ]);
});

describe.each(['airline', 'retail', 'udt'])('the README of %s', (name) => {
  const section = readFileSync(join(domainFolder(name), 'README.md'), 'utf8')
    .split('\n## ')
    .find((text) => text.startsWith('What must hold before what\n'));
  const [gated = [], open = []] = (section?.split('\n\n') ?? [])
    .map((block) => block.split('\n').filter((line) => line.startsWith('| `')))
    .filter((rows) => rows.length > 0)
    .map((rows) => rows.map((row) => row.split('|').slice(1).map(quoted)));

  test('states the preconditions of each process', () => {
    const gates = Object.entries(gatesOf(name));
    const asked = read(name).processes.map(({ process }) => [
      process,
      gates.flatMap(([id, processes]) => (processes.includes(process) ? [id] : [])).toSorted(),
    ]);
    const said = gated.flatMap(([of = [], ids = []]) =>
      of.map((process) => [process, ids.toSorted()]),
    );
    expect(Object.fromEntries(said)).toEqual(Object.fromEntries(asked));
  });

  test('each other rule says why it is not a precondition', () => {
    const policies = deriveInvariants(read(name)).filter(({ from }) => from === 'policy');
    expect(open.flatMap(([ids = []]) => ids).toSorted()).toEqual(
      policies.map(({ id }) => id).toSorted(),
    );
  });
});

test('a scaffold makes grow-only components lists and free-keyed ones records', async () => {
  const { state, initial } = await domainIn(join(folder, 'airline', 'index.ts'), 'airline');
  const fits = (change: object): boolean => state.safeParse({ ...initial, ...change }).success;
  expect([
    fits({ itineraries: { R: [1] } }),
    fits({ itineraries: { R: {} } }),
    fits({ itineraries: [] }),
  ]).toEqual([true, false, false]);
  expect([fits({ booked: { R: 1 } }), fits({ booked: 1 }), fits({ sold: {} })]).toEqual([
    true,
    false,
    false,
  ]);
});

test('all scaffolds compile under the options of the package', () => {
  const { stdout, status } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], {
    cwd: root,
    encoding: 'utf8',
  });
  expect({ stdout, status }).toEqual({ stdout: '', status: 0 });
});

test('scaffold tests fail, one for each invariant, and none is skipped', () => {
  const report = join(folder, 'report.json');
  spawnSync(process.execPath, [
    ...[join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder],
    ...['--reporter', 'json', '--outputFile', report],
  ]);
  const invariants = NAMES.flatMap((name) => read(name).rules).length;
  expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({
    numTotalTests: invariants + NAMES.length,
    numFailedTests: invariants,
    numPassedTests: NAMES.length,
    numPendingTests: 0,
  });
});
