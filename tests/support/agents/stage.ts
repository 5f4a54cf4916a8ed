import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A home and a project of its own, in a folder that is removed at the end. */
export interface AgentStage {
  readonly folder: string;
  readonly project: string;
  readonly home: string;
  /** Writes a file, by its path from the folder on, such as `project/.claude/settings.json`. */
  write(path: string, content: unknown, mode?: number): string;
  remove(): void;
}

export function agentStage(name: string): AgentStage {
  const folder = mkdtempSync(join(tmpdir(), `assize-${name}-`));
  const [project, home] = [join(folder, 'project'), join(folder, 'home')];
  for (const each of [project, home]) mkdirSync(each);
  return {
    folder,
    project,
    home,
    write: (path, content, mode) => {
      const file = join(folder, path);
      mkdirSync(dirname(file), { recursive: true });
      const bytes = typeof content === 'string' ? content : JSON.stringify(content, undefined, 2);
      writeFileSync(file, bytes, mode === undefined ? {} : { mode });
      return file;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
