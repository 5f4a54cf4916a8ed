import { existsSync } from 'node:fs';
import { join } from 'node:path';

const modules = join(import.meta.dirname, '../../../peers/node_modules');
const TRIPLES: Readonly<Record<string, string>> = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
};

/** Codex, where `npm ci --prefix peers` installed it for this machine. */
export function codexProgram(): string | undefined {
  const platform = `${process.platform}-${process.arch}`;
  const path = join(
    modules,
    `@openai/codex-${platform}`,
    'vendor',
    TRIPLES[platform] ?? platform,
    'bin/codex',
  );
  return existsSync(path) ? path : undefined;
}
