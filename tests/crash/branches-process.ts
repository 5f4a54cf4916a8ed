/**
 * A process that tries branches in copies of a folder, and is killed while their commands run:
 * `URL ROOT`.
 */

import { openStore } from '#stores';
import { BranchFolders } from '#tools/branches';
import { fileTools } from '#tools/files';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { tally } from '../support/tools/effect-sink.ts';

const [url = '', root = ''] = process.argv.slice(2);
const store = await openStore(url);
const folders = new BranchFolders({ root });
const assize = runtimeOver(store, [tally], { tools: [...fileTools({ root }), ...folders.tools] });
const trajectory = await assize.open('t');
await trajectory.transaction({ writ: writFor('alice'), writes: [`fs:${root}/**`] }, (tx) =>
  folders.speculate(
    tx,
    [0, 1].map((i) => async (_: unknown, folder) => {
      await folder.write(`made-${i}`, 'x');
      const running = folder.run([
        '/bin/sh',
        '-c',
        'while true; do date > alive; sleep 0.01; done',
      ]);
      process.stdout.write(`${JSON.stringify({ path: folder.path })}\n`);
      await running;
    }),
    () => 0,
  ),
);
