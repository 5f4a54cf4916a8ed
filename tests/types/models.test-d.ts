/** Uses of models and times that must not compile. `npm run typecheck` is the test. */

import type { LastRuling } from '@assize/agents';
import { aiSdk, anthropic, type ChatModel, modelAgent, openAiCompatible } from '@assize/agents/models';
import { instantOf, issueWrit } from 'assize';

declare const model: ChatModel;
declare const ruling: LastRuling;
declare const domain: Parameters<typeof modelAgent>[0]['domain'];

instantOf(new Date());
// @ts-expect-error: a number is not a time
instantOf(1_774_256_400_000);

const grant = { issuer: '', subject: '', actions: [], scopes: [], max_depth: 0, nonce: '' };
issueWrit({ ...grant, not_before: new Date(), expires: '2100-01-01' }, '');
// @ts-expect-error: a writ has an end
issueWrit({ ...grant, not_before: new Date() }, '');

openAiCompatible({ baseUrl: '', model: '' });
// @ts-expect-error: a server has an address
openAiCompatible({ model: '' });
// @ts-expect-error: the API of Anthropic needs a key
anthropic({ model: '' });
// @ts-expect-error: a text is not a language model
aiSdk('gpt');

const agent = { name: '', role: { name: '', params: {} }, writ: '', instructions: '', domain };
modelAgent({ ...agent, model });
// @ts-expect-error: an agent has a model
modelAgent(agent);
// @ts-expect-error: a name of a model is not a model
modelAgent({ ...agent, model: 'openai:gpt' });

// @ts-expect-error: the ruling is read, and not written
ruling.ruling = 'committed';
