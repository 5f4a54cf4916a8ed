import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';

// `node:fs/promises` as far as the tools on files use it, for tests that do hundreds of thousands of calls one after the other: each
// is the same call of the system on the same files, made at once and not handed to another thread, for which everything else waits.

/** Answers, or rejects with what was thrown, a microtask later. */
function promptly<Args extends readonly unknown[], Answer>(
  call: (...args: Args) => Answer,
): (...args: Args) => Promise<Answer> {
  return async (...args) => call(...args);
}

async function openPromptly(path: string, flags: number, mode?: number): Promise<object> {
  const fd = openSync(path, flags, mode);
  const close = promptly(() => closeSync(fd));
  return {
    fd,
    stat: promptly((options: { readonly bigint: true }) => fstatSync(fd, options)),
    readFile: promptly(() => readFileSync(fd)),
    writeFile: promptly((bytes: Uint8Array) => writeFileSync(fd, bytes)),
    chmod: promptly((as: number) => fchmodSync(fd, as)),
    sync: promptly(() => fsyncSync(fd)),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What a test puts in the place of `node:fs/promises`. */
export const promptFiles = {
  lstat: promptly(lstatSync),
  mkdir: promptly(mkdirSync),
  open: openPromptly,
  readdir: promptly(readdirSync),
  rename: promptly(renameSync),
  rmdir: promptly(rmdirSync),
  unlink: promptly(unlinkSync),
};
