/** Files of other programs, of any form: each is read, or refused with a sentence. */
import { isAssizeError } from 'assize/internal/base';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonValue } from '../../../../../tests/json-values.ts';
import { cases } from '../../../../../tests/support/cases.ts';
import {
  missingEvents,
  type Settings,
  settingsIn,
  termsIn,
  withHooks,
  withoutHooks,
} from './claude-code/hooks.ts';
import { parsedConfig, withBlock, withoutBlock } from './codex/config-text.ts';
import { configuredFaults, configuredHooks } from './codex/faults.ts';
import { hooksText } from './codex/hooks.ts';
import { serversIn, withServers } from './mcp/servers-file.ts';
import { faultOf, hasGateway, identityOf, unwrapped, wrapped } from './mcp/wrap.ts';

const TERMS = {
  ...{ program: ['/bin/assize'], url: 'http://127.0.0.1:4517', trajectory: 'calls' },
  ...{ tokenFile: '/t', wait: 20 },
  ...({ pending: 'deny', confirm: 'never' } as const),
};
const GATEWAY = { ...TERMS, program: ['/bin/node', '/bin/assize'] };

const own = withHooks({}, TERMS)['hooks'] as Record<string, readonly unknown[]>;
const gateway = wrapped({ command: 'server', args: ['x'] }, 'fs', GATEWAY);
const remote = wrapped({ url: 'http://h/', headers: { a: 'b' } }, 'fs', GATEWAY);

/** A value, or any JSON in its place. */
const or = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 4, arbitrary: value as fc.Arbitrary<unknown> }, jsonValue);
const name = fc.constantFrom('PreToolUse', 'PostToolUse', 'Stop', '__proto__', 'constructor');
const hook = or(
  fc.constantFrom(
    ...Object.values(own)
      .flat()
      .flatMap((group: any) => group.hooks),
  ),
);
const hooks = or(
  fc.dictionary(
    name,
    or(fc.array(or(fc.record({ matcher: jsonValue, hooks: or(fc.array(hook)) })))),
  ),
);
const settings = or(fc.record({ env: jsonValue, hooks, model: jsonValue }, { requiredKeys: [] }));
const entry = or(
  fc.record(
    {
      ...{ command: or(fc.constant('server')), args: or(fc.array(fc.string())), env: jsonValue },
      ...{ url: or(fc.constant('http://h/')), headers: jsonValue, type: jsonValue, cwd: jsonValue },
    },
    { requiredKeys: [] },
  ),
);
const servers = or(
  fc.record({
    mcpServers: or(
      fc.dictionary(fc.string(), fc.oneof(entry, fc.constant(gateway), fc.constant(remote))),
    ),
  }),
);

/** The text of a value as some program wrote it. */
const textOf = (value: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
  fc
    .record({
      value,
      mark: fc.constantFrom('', '\uFEFF'),
      space: fc.constantFrom(undefined, 2, '\t'),
      line: fc.constantFrom('\n', '\r\n'),
      end: fc.constantFrom('', '\n', ' // a comment', '/* open', ',', '}'),
      twice: fc.boolean(),
    })
    .map(({ value, mark, space, line, end, twice }) => {
      const text = JSON.stringify(value, undefined, space).replaceAll('\n', line);
      const doubled = twice ? text.replace(/^\{("[^"\\]*":)/, '{$1 0, $1') : text;
      return `${mark}${doubled}${end}`;
    });

/** Undefined for an error with a sentence. Any other error fails the test. */
function toldOr<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    expect(error.message).toMatch(/[a-z]{3}.*\.$/s);
    return undefined;
  }
}

test('settings of any form are installed into, checked and undone, or refused', () => {
  fc.assert(
    fc.property(textOf(settings), (text) => {
      const given = toldOr(() => settingsIn('f', text));
      if (given === undefined) return;
      expect(given).toEqual(JSON.parse(text.replace('\uFEFF', '')));
      for (const read of [missingEvents, termsIn]) read(given);
      const installed = settingsIn('f', JSON.stringify(withHooks(given, TERMS)));
      expect(missingEvents(installed)).toEqual([]);
      expect(termsIn(installed)).toEqual(TERMS);
      const left = withoutHooks(installed);
      expect(termsIn(left)).toBeUndefined();
      const others = ({ hooks: _, ...rest }: Settings) => rest;
      expect(others(left)).toEqual(others(given));
    }),
    { numRuns: cases(4_000) },
  );
});

test('settings without hooks of Assize are the same after an installation', () => {
  const plain = textOf(fc.record({ model: jsonValue, env: jsonValue, hooks: jsonValue }));
  fc.assert(
    fc.property(plain, (text) => {
      const given = toldOr(() => settingsIn('f', text));
      if (given === undefined) return;
      const left = withoutHooks(withHooks(given, TERMS));
      expect({ hooks: {}, ...left }).toEqual({ hooks: {}, ...given });
    }),
    { numRuns: cases(4_000) },
  );
});

test('a file of MCP servers of any form gets its gateways and is put back', () => {
  fc.assert(
    fc.property(textOf(servers), (text) => {
      const found = toldOr(() => serversIn('f', text));
      for (const each of found ?? []) {
        hasGateway(each.value);
        unwrapped(each.value, GATEWAY);
        if (faultOf(each.value) !== undefined) continue;
        identityOf(each.value);
        const wanted = wrapped(each.value, 'fs', GATEWAY);
        const changed = toldOr(() => withServers('f', text, new Map([[each, wanted]])));
        if (changed === undefined) continue;
        const [after] = serversIn('f', changed).filter(({ name }) => name === each.name);
        expect(after?.value).toEqual(JSON.parse(JSON.stringify(wanted)));
        expect(unwrapped(wanted, GATEWAY)).toBeDefined();
      }
    }),
    { numRuns: cases(4_000) },
  );
});

test('a configuration of Codex of any form gets its hooks, or is refused', () => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom('hooks = 1', 'hooks = []', '[hooks]\nStop = 1', '[[hooks.Stop]]\nhooks = {}\n'),
    fc.constantFrom('\uFEFFa = 1\r\n', 'a = 1\na = 2', '[hooks.state]\nx = 1', 'hooks = {}'),
  );
  fc.assert(
    fc.property(text, (before) => {
      const after = toldOr(() => withBlock(before, 'hooks', hooksText(TERMS), 'f'));
      const given = toldOr(() => parsedConfig(before, 'f'));
      if (given !== undefined) configuredFaults('f', configuredHooks(given));
      if (after !== undefined)
        expect(withoutBlock(after, 'hooks', 'f').trimEnd()).toBe(before.trimEnd());
    }),
    { numRuns: cases(5_000) },
  );
});
