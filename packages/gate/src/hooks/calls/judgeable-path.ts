import { posix } from 'node:path';
import { readScope } from 'assize/internal/authority';
import { isAssizeError } from 'assize/internal/base';

const LENGTH_MAX = 1_024;

/**
 * The longest beginning of an absolute path that rules can judge. A rule about a folder holds for a
 * path if and only if it holds for this folder: a rule names only folders that it can judge.
 */
export function judgeablePath(path: string): string {
  let text = path;
  while (text !== '/' && !isJudgeable(text)) text = posix.dirname(text);
  return text;
}

function isJudgeable(path: string): boolean {
  if (path.length > LENGTH_MAX || /[. ](?:\/|$)/.test(path)) return false;
  try {
    return readScope(`path:${path}`).concrete;
  } catch (error) {
    if (isAssizeError(error)) return false;
    throw error;
  }
}
