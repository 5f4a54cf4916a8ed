import type { Json } from '#base';

/** The answer of a proposal. */
export interface RulingDocument {
  readonly ruling: 'committed' | 'rejected' | 'escalated' | 'frozen';
  readonly entry_id?: string;
}

/** An agent of the tour: it proposes over HTTP, as an agent in any language does. */
export class AgentClient {
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** @throws Error for a refused request, TypeError for a server that ended */
  async propose(trajectory: string, key: string, proposal: Json): Promise<RulingDocument> {
    const response = await fetch(`${this.#url}/v1/trajectories/${trajectory}/proposals`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.#token}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify(proposal),
    });
    const answer = (await response.json()) as RulingDocument & { readonly detail?: string };
    if (!response.ok) throw new Error(`The server refused a step of the tour: ${answer.detail}`);
    return answer;
  }
}
