import { fileScope, fileTools } from 'assize/tools/files';
import { shellTool } from 'assize/tools/shell';
import { newFolder } from '../files-stage.ts';
import type { Case, Exempt } from './case.ts';
import { PORT, takes } from './table.ts';

const SPEC = 'a part of the declaration, which declareTool refuses';

export const TOOLS: Readonly<Record<string, Case | Exempt>> = {
  fileTools: takes(
    fileTools as never,
    () => [{ root: newFolder(), name: 'files', delivery: 'buffered', bytesMax: 1_000, disk: (disk: unknown) => disk }],
    { '0.disk': PORT },
  ),
  fileScope: takes(fileScope as never, () => [newFolder(), 'a/b', true]),
  shellTool: takes(
    shellTool as never,
    () => [
      {
        name: 'make',
        command: ['make'],
        class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'blind' },
        writes: ['fs:/x'],
        cwd: '/',
        env: { PATH: '/bin' },
        outputMax: 10,
      },
    ],
    { '0.class': SPEC },
  ),
};
