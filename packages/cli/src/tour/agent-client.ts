import { CliError } from '@assize/command';
import type { Json } from 'assize/internal/base';
import { FRESH_ADVICE } from './earlier-tour.ts';

/** The answer of a proposal. */
export interface RulingDocument {
  readonly ruling: 'committed' | 'rejected' | 'escalated' | 'frozen';
  readonly entry_id?: string;
}

/** The answer of a recall. */
export interface RecallDocument {
  readonly facts: readonly { readonly system_time_start: string }[];
  readonly observation: Json;
}

/** An agent of the tour: it proposes over HTTP, as an agent in any language does. */
export class AgentClient {
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** @throws CliError `bad_input` for a refused request, TypeError for a server that ended */
  propose(trajectory: string, key: string, proposal: Json): Promise<RulingDocument> {
    return this.#post(`${trajectory}/proposals`, proposal, key);
  }

  /** States a fact. @throws as `propose` */
  state(trajectory: string, space: string, key: string, statement: Json): Promise<RulingDocument> {
    return this.#post(`${trajectory}/memory/${space}/statements`, statement, key);
  }

  /** @throws as `propose` */
  recall(trajectory: string, space: string, query: Json): Promise<RecallDocument> {
    return this.#post(`${trajectory}/memory/${space}/recall`, query);
  }

  async #post<T>(path: string, body: Json, key?: string): Promise<T> {
    const response = await fetch(`${this.#url}/v1/trajectories/${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.#token}`,
        'content-type': 'application/json',
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as T & { readonly detail?: string };
    if (!response.ok)
      throw new CliError(
        'bad_input',
        `The server refused a step of the tour: ${answer.detail} ${FRESH_ADVICE}`,
      );
    return answer;
  }
}
