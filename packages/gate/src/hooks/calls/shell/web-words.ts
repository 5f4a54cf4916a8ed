import { type ShellWord, wordValues } from './shell-word.ts';
import { isUrl } from './word-paths.ts';

/** The addresses that the words of a program name, and the words whose host is not certain. */
export interface WebWords {
  readonly urls: readonly string[];
  readonly unclear: readonly string[];
}

/**
 * Every `http` address among the words. `curl` and `wget` also get addresses without a scheme, and
 * `git` gets addresses with other ones.
 */
export function webWords(
  name: string,
  words: readonly ShellWord[],
  targets: readonly string[],
): WebWords {
  const values = words.flatMap((word) => wordValues(word) ?? []);
  const urls = values.flatMap(urlIn);
  if (name === 'git')
    return { urls, unclear: isRemote(values) ? values.filter(isOtherAddress) : [] };
  if (name !== 'curl' && name !== 'wget') return { urls, unclear: [] };
  const others = targets.filter((each) => !/^(?:https?:\/\/|file:|\*$)/i.test(each));
  const isHost = (text: string) => /^[a-z0-9.-]+(?::\d+)?(?:[/?#][\s\S]*)?$/i.test(text);
  // One of several values can be the value of an option, or an address.
  const several = words.filter(({ oneOf }) => oneOf !== undefined).map(({ text }) => text);
  return {
    urls: [...urls, ...others.filter(isHost).map((host) => `http://${host}`)],
    unclear: [...others.filter((each) => !isHost(each)), ...several],
  };
}

function urlIn(word: string): readonly string[] {
  const found = /(?:^|^-{1,2}[\w-]+=|^[\w-]+=)(https?:\/\/[\s\S]*)$/i.exec(word);
  return found === null ? [] : [found[1] as string];
}

function isRemote(values: readonly string[]): boolean {
  return values.some((value) =>
    /^(?:clone|fetch|pull|push|remote|ls-remote|submodule|archive)$/.test(value),
  );
}

/** `git@host:path` and addresses with another scheme. */
function isOtherAddress(word: string): boolean {
  return (
    (isUrl(word) && !/^(?:https?|file):/i.test(word)) ||
    /^[\w.-]+@[\w.-]+:/.test(word) ||
    /^\w+::/.test(word)
  );
}
