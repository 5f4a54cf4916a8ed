import { existsSync } from 'node:fs';
import { join } from 'node:path';

const modules = join(import.meta.dirname, '../../../peers/node_modules');

/** Claude Code, where `npm ci --prefix peers` installed it for this machine. */
export function claudeProgram(): string | undefined {
  const file = process.platform === 'win32' ? 'claude.exe' : 'claude';
  const names = ['', '-musl'].map(
    (libc) => `claude-agent-sdk-${process.platform}-${process.arch}${libc}`,
  );
  return names
    .map((name) => join(modules, '@anthropic-ai', name, file))
    .find((path) => existsSync(path));
}
