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

// The part of `node:fs/promises` that the file tools use, for tests with hundreds of thousands of
// sequential calls. Each function makes the same system call on the same files, but synchronously.
// A call in another thread would make everything else wait.

/** Resolves with the answer, or rejects with the thrown error, one microtask later. */
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

/** The replacement of `node:fs/promises` in a test. */
export const promptFiles = {
  lstat: promptly(lstatSync),
  mkdir: promptly(mkdirSync),
  open: openPromptly,
  readdir: promptly(readdirSync),
  rename: promptly(renameSync),
  rmdir: promptly(rmdirSync),
  unlink: promptly(unlinkSync),
};
