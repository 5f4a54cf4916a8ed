import type { McpConfig, McpServerConfig } from '../config.ts';
import {
  all,
  type Form,
  fits,
  flag,
  list,
  object,
  oneOf,
  optional,
  record,
  text,
  whole,
} from './form.ts';

const SERVER = /^[A-Za-z0-9][A-Za-z0-9_:@-]{0,99}$/;

const anyName = (): undefined => undefined;

const texts: Form = record(
  anyName,
  fits('a text', (value) => typeof value === 'string'),
);

const upstream: Form = all(
  object<McpServerConfig>({
    command: optional(text),
    args: optional(list(fits('a text', (value) => typeof value === 'string'))),
    env: optional(texts),
    url: optional(
      fits(
        'an http or https URL',
        (value) => typeof value === 'string' && /^https?:/.test(value) && URL.canParse(value),
      ),
    ),
    headers: optional(texts),
    people: optional(record(anyName, text)),
    questions: optional(list(oneOf(['elicitation', 'sampling', 'roots']))),
    clientsSpeakForPeople: optional(flag),
  }),
  (value, path) => {
    const { command, url, people = {}, clientsSpeakForPeople } = value as McpServerConfig;
    if (Object.keys(people).length > 0 && clientsSpeakForPeople !== true)
      return {
        path: `${path}.people`,
        wanted:
          'given together with clientsSpeakForPeople: true, as each holder of the agent’s token can answer',
      };
    return (command === undefined) === (url === undefined)
      ? { path, wanted: 'a server with either `command` or `url`' }
      : undefined;
  },
);

/** The MCP servers that the server stands in front of. */
export const mcp: Form = object<McpConfig>({
  world: optional(text),
  servers: record(
    (name) =>
      SERVER.test(name)
        ? undefined
        : 'named as in the rules: letters, digits and _ : @ -, at most 100',
    upstream,
  ),
  waitSeconds: optional(whole(0, 3_600)),
  timeoutSeconds: optional(whole(1, 86_400)),
  resultBytes: optional(whole(1_024, 10 * 1024 * 1024)),
});
