/** Programs that run programs, texts or scripts of the project. */
const RUNNERS: ReadonlySet<string> = new Set(
  `ant bash bun busybox bunx cargo composer csh dash deno docker env expect fish go gradle java just kotlin ksh kubectl lua
  make gmake mvn node nodejs nohup npm npx perl php pip pipx pnpm podman poetry python python3 rake ruby Rscript sh ssh
  sudo swift task tclsh tcsh timeout ts-node tsx uv uvx xargs yarn zsh`.split(/\s+/),
);

export function isRunner(program: string | undefined): boolean {
  return program !== undefined && RUNNERS.has(program);
}

const CHECKS = /^-{0,2}(?:build|(?:check|lint|test|typecheck|vet)(?::[\w:-]+)?)$/;
const CHECKERS = /^(?:black|eslint|jest|mypy|prettier|pytest|ruff|tsc|vitest)$/;

/** Whether the words of a program say that it tests, checks or builds: `npm run lint`. */
export function isCheck(words: readonly string[]): boolean {
  if (/sh$|^(?:docker|kubectl|podman|sudo)$/.test(words[0] ?? '')) return false;
  const first = words.find((word) => !RUNNERS.has(word) && !/^(?:run|exec|-m)$/.test(word));
  return first !== undefined && (CHECKS.test(first) || CHECKERS.test(first));
}
