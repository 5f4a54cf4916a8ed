import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { calling, folder } from '../../tests/support/file-calls.ts';
import { type Disk, diskAt, type FolderItem, type PathContents } from './disk.ts';
import { operationOf } from './file-tools.ts';
import { rootAt } from './root.ts';
import { View } from './view.ts';

const NAMES = ['a', 'a/b', 'a/b/c', 'a/d', 'e', 'e/f', 'g/h'];
const name = fc.constantFrom(...NAMES);
const planned = fc.oneof(
  fc.record({
    tool: fc.constant('files.write'),
    input: fc.record({ path: name, content: fc.constantFrom('1', '2') }),
  }),
  fc.record({ tool: fc.constant('files.delete'), input: fc.record({ path: name }) }),
  fc.record({ tool: fc.constant('files.move'), input: fc.record({ from: name, to: name }) }),
);

const said = (made: Promise<unknown>): Promise<unknown> =>
  made.catch((error: Error) => error.message);

test('a view of some paths equals the view with all planned changes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(planned, { maxLength: 12 }), async (given) => {
      const root = folder({ 'a/b/c': 'c', e: 'e' });
      const at = rootAt(root);
      const all = new View(at, diskAt(at, 1_000), 1_000);
      const { of } = calling(root, 'buffered');
      const call = { key: 'k', epoch: 1, signal: new AbortController().signal };
      const plans: { readonly tool: string; readonly input: any }[] = [];
      for (const { tool, input } of given) {
        const placed = Object.fromEntries(
          Object.entries(input).map(([member, value]) => [
            member,
            member === 'content' ? value : join(root, value),
          ]),
        );
        const told = await said(
          Promise.resolve(of(tool.slice('files.'.length)).spec.plan!(placed, plans)),
        );
        try {
          await all.plan(operationOf('files', tool, placed)!);
        } catch (error) {
          expect(told).toContain((error as Error).message);
          continue;
        }
        expect(told).toMatchObject({ path: placed['to'] ?? placed['path'] });
        plans.push({ tool, input: placed });
      }
      for (const path of NAMES.map((each) => join(root, each))) {
        const seen = (await said(all.look(path))) as PathContents | string;
        const read = await said(Promise.resolve(of('read').spec.execute({ path }, call, plans)));
        if (typeof seen === 'string') expect(read).toContain(seen);
        else if (seen.is === 'file') expect(read).toMatchObject({ content: seen.bytes.toString() });
        else
          expect(read).toEqual(
            seen.is === 'absent' ? null : expect.stringContaining('is not a file'),
          );
        const names = (await said(all.names(path))) as readonly FolderItem[] | string | undefined;
        const listed = await said(Promise.resolve(of('list').spec.execute({ path }, call, plans)));
        if (Array.isArray(names))
          expect(listed).toMatchObject({
            entries: names.map(({ name, is }) => ({ path: name, is })),
          });
        else expect(listed).toContain(names ?? 'there is no folder');
      }
    }),
    { numRuns: cases(100) },
  );
});

test('a call looks at no files of calls that have nothing to do with its own', async () => {
  const root = folder();
  let looks = 0;
  const counting = (disk: Disk): Disk => ({
    ...disk,
    look: (path) => {
      looks++;
      return disk.look(path);
    },
  });
  const { of } = calling(root, 'buffered', counting);
  const path = (i: number): string => join(root, `dir/${i}`);
  const plans = Array.from({ length: 50 }, (_, i) => ({
    tool: 'files.write',
    input: { path: path(i), content: `${i}` },
  }));
  await of('write').spec.plan!({ path: path(50), content: 'x' }, plans);
  expect(looks).toBe(1);
  const call = { key: 'k', epoch: 1, signal: new AbortController().signal };
  expect(await of('read').spec.execute({ path: path(7) }, call, plans)).toMatchObject({
    content: '7',
  });
  expect(looks).toBe(2);
});
