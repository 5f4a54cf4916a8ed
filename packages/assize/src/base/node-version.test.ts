import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NodeError, requireNode } from './node-version.ts';

test.each(['22.16.0', '22.99.1', '24.0.0', '24.21.0', '25.1.0', '26.0.0', '100.0.0'])(
  'Node %s is accepted',
  (version) => {
    expect(() => requireNode(version)).not.toThrow();
  },
);

test.each(['0.12.0', '18.20.8', '20.20.2', '21.7.3', '22.0.0', '22.15.1', '23.11.1', 'none'])(
  'Node %s is refused with one message that names the version to install',
  (version) => {
    expect(() => requireNode(version)).toThrow(NodeError);
    expect(() => requireNode(version)).toThrow(
      expect.objectContaining({
        code: 'unsupported_node',
        message: expect.stringMatching(
          /^Assize can't run on Node \S+\. Install Node 24, or Node 22\.16 or newer [^\n]+\.$/,
        ),
        evidence: { node: version },
      }),
    );
  },
);

test('package.json and the command name the same releases', () => {
  const read = (file: string): string =>
    readFileSync(join(import.meta.dirname, '../../../..', file), 'utf8');
  const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
  expect(engines.node).toBe('^22.16.0 || >=24.0.0');
  for (const part of engines.node
    .split(' || ')
    .map((range) => range.replace(/^\D+/, '').split('.'))) {
    const [major = '', minor = ''] = part;
    expect(() => requireNode(`${major}.${minor}.0`)).not.toThrow();
    if (minor !== '0') expect(() => requireNode(`${major}.${Number(minor) - 1}.0`)).toThrow();
    expect(read('packages/cli/bin/assize.js')).toContain(`[${major}, ${minor}]`);
  }
});
