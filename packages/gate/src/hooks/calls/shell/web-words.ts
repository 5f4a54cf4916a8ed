import { type ShellWord, wordValues } from './shell-word.ts';
import { isUrl } from './word-paths.ts';

/** The addresses that the words of a program name, and the words whose host is not certain. */
export interface WebWords {
  readonly urls: readonly string[];
  readonly unclear: readonly string[];
}

/** Options of programs that fetch: letters and names with a value that is not an address. */
const VALUES: Readonly<Record<string, { letters: string; names: RegExp; unclear: RegExp }>> = {
  curl: {
    letters: 'oHdXuAebcFTmwDrCEtyYzQPU',
    names:
      /^--(?:output|output-dir|header|data|data-raw|data-binary|data-ascii|data-urlencode|json|request|user|user-agent|referer|cookie|cookie-jar|form|form-string|upload-file|max-time|connect-timeout|write-out|dump-header|range|retry|retry-delay|retry-max-time|cert|key|cacert|capath|limit-rate|max-redirs|oauth2-bearer|stderr|tls-max|ciphers|proto|url-query)$/,
    unclear:
      /^(?:-[^-]*[xK]|--(?:proxy|preproxy|socks|config|connect-to|resolve|doh-url|interface|unix-socket|abstract))/,
  },
  wget: {
    letters: 'OoaPUtTwQlARDIXB',
    names:
      /^--(?:output-document|output-file|append-output|directory-prefix|user-agent|header|tries|timeout|wait|quota|level|user|password|post-data|post-file|method|body-data|body-file|accept|reject|domains|certificate|private-key|ca-certificate|load-cookies|save-cookies|referer|limit-rate)$/,
    unclear: /^(?:-[^-]*[ei]|--(?:execute|input-file|config|use-askpass|bind-address))/,
  },
};

/**
 * Every `http` address among the words. `curl` and `wget` also get addresses without a scheme, and
 * `git` gets addresses with other ones.
 */
export function webWords(name: string, words: readonly ShellWord[]): WebWords {
  const values = words.flatMap((word) => wordValues(word) ?? []);
  const urls = values.flatMap(urlIn);
  if (name === 'git')
    return { urls, unclear: isRemote(values) ? values.filter(isOtherAddress) : [] };
  const options = VALUES[name];
  if (options === undefined) return { urls, unclear: [] };
  const read = fetched(values, options);
  // One of several values can be the value of an option, or an address.
  const several = words.filter(({ oneOf }) => oneOf !== undefined).map(({ text }) => text);
  return { urls: [...urls, ...read.urls], unclear: [...read.unclear, ...several] };
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

function fetched(values: readonly string[], options: (typeof VALUES)[string]): WebWords {
  const [urls, unclear]: [string[], string[]] = [[], []];
  let operandsOnly = false;
  for (let i = 0; i < values.length; i++) {
    const word = values[i] as string;
    if (word === '--') operandsOnly = true;
    else if (!operandsOnly && word.startsWith('-') && word !== '-') {
      if (options.unclear.test(word)) unclear.push(word);
      if (takesNext(word, options)) i++;
    } else if (!/^https?:\/\//i.test(word)) {
      if (/^[a-z0-9.-]+(?::\d+)?(?:[/?#][\s\S]*)?$/i.test(word)) urls.push(`http://${word}`);
      else if (!/^file:/i.test(word)) unclear.push(word);
    }
  }
  return { urls, unclear };
}

function takesNext(word: string, { letters, names }: (typeof VALUES)[string]): boolean {
  if (word.startsWith('--')) return names.test(word);
  const at = [...word.slice(1)].findIndex((letter) => letters.includes(letter));
  return at === word.length - 2;
}
