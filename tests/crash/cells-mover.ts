/** Moves a tenant, and sends each step to its parent. Its argument is `MoverOptions` as JSON. */
import { moveTenant, RootLog, readCellsFile } from '#cells';
import type { MoverOptions } from './cells-orders.ts';
import { ROOT } from './serve-orders.ts';

const { file: path, tenant, to, diesAt } = JSON.parse(process.argv[2]!) as MoverOptions;
const file = readCellsFile(path);
const log = await RootLog.open({ url: file.root, root: ROOT });
await moveTenant({
  ...{ file, log, tenant, to, principal: 'operator:test', signal: new AbortController().signal },
  onStep: (step) => {
    process.send?.(step);
    if (step === diesAt) process.kill(process.pid, 'SIGKILL');
  },
});
await log.close();
process.disconnect();
