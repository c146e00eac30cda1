import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { stringifyJson } from '#contract/json.ts'
import { errorBody, ProblemError } from '#contract/problem.ts'
import {
  assetProblem,
  balanceProblem,
  limitProblem,
  recipientProblem,
  senderProblem,
} from '#contract/reason-problems.ts'
import {
  assetSamples,
  balanceSamples,
  limitSamples,
  recipientSamples,
  senderSamples,
} from '#testing/sample-reasons.ts'
import { readProblem, type ApiError } from '../../api/errors.ts'
import { i18n } from '../../locales/i18n.ts'
import { catalogs as spanish } from '../../locales/es-catalogs.ts'
import { catalogs as chinese } from '../../locales/zh-cn-catalogs.ts'
import { userErrorOf } from './hosted/send.ts'
import { paymentService } from '../../payment-flow/form/payment-service.ts'

const RECIPIENT = '7vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi'
const languages = { en: 'en-US', es: 'es-ES', 'zh-CN': 'zh-CN' } as const
type Language = keyof typeof languages

beforeAll(async () => {
  for (const [language, catalogs] of [
    ['es', spanish],
    ['zh-CN', chinese],
  ] as const) {
    const words = await Promise.all(
      ['desk', 'paying'].map(
        async (name) => (await catalogs[`./${language}/${name}.po`]?.())?.messages,
      ),
    )
    i18n.load(language, Object.assign({}, ...words))
  }
})

afterEach(() => i18n.activate('en'))

/** The answer of the service as the browser reads it. */
function answerOf(problem: ProblemError): ApiError {
  return readProblem(
    { status: 400, headers: new Headers() },
    stringifyJson(errorBody(problem, 'req_1', 1)),
  )
}

const refusals = [
  ...Object.values(recipientSamples).map((reason) => ({
    code: reason.code,
    problem: recipientProblem(reason, { received: RECIPIENT }),
  })),
  ...Object.values(balanceSamples).map((reason) => ({
    code: reason.code,
    problem: balanceProblem(reason),
  })),
  ...Object.values(senderSamples).map((reason) => ({
    code: reason.code,
    problem: senderProblem(reason),
  })),
  ...Object.values(assetSamples).map((reason) => ({
    code: reason.code,
    problem: assetProblem(reason),
  })),
  ...Object.values(limitSamples).map((reason) => ({
    code: reason.code,
    problem: limitProblem(reason),
  })),
]

/** What the page of each mode shows. */
const pages = {
  local: (error: ApiError) => paymentService.explain(error),
  hosted: (error: ApiError) => userErrorOf(error),
}

describe.each(Object.keys(pages) as (keyof typeof pages)[])('%s', (mode) => {
  test.each<[string, Record<Language, [title: string, figure: string]>]>([
    [
      'below_rent_minimum',
      {
        en: ['Amount too small', 'Send at least 0.00089088 SOL'],
        es: ['Importe demasiado pequeño', 'Envía al menos 0,00089088 SOL'],
        'zh-CN': ['金额过小', '至少发送 0.00089088 SOL'],
      },
    ],
    [
      'token_account_frozen',
      {
        en: ['Recipient’s USDC account is frozen', 'another'],
        es: ['La cuenta de USDC del destinatario está congelada', 'otr'],
        'zh-CN': ['收款方的 USDC 账户已被冻结', '其他'],
      },
    ],
    [
      'sender_token_account_frozen',
      {
        en: ['Paying USDC account is frozen', 'another'],
        es: ['La cuenta de USDC que paga está congelada', 'otr'],
        'zh-CN': ['付款的 USDC 账户已被冻结', '其他'],
      },
    ],
    [
      'token_contract',
      {
        en: ['Recipient is the USDC contract', 'lost'],
        es: ['El destinatario es el contrato de USDC', 'se pierde'],
        'zh-CN': ['收款方是 USDC 合约', '丢失'],
      },
    ],
    [
      'contract_reverts',
      {
        en: ['Recipient’s contract rejects this payment', 'execution reverted: closed'],
        es: ['El contrato del destinatario rechaza este pago', 'execution reverted: closed'],
        'zh-CN': ['收款方的合约拒绝此付款', 'execution reverted: closed'],
      },
    ],
    [
      'asset_keeps_part',
      {
        en: ['Only 1.485 USDC of 1.5 USDC would arrive', 'Choose another currency'],
        es: ['Solo llegarían 1,485 USDC de 1,5 USDC', 'Elige otra moneda'],
        'zh-CN': ['1.5 USDC 中只有 1.485 USDC 能到账', '请选择其他币种'],
      },
    ],
    [
      'program_account',
      {
        en: ['Recipient is not a wallet', 'lost'],
        es: ['El destinatario no es un monedero', 'se pierde'],
        'zh-CN': ['收款方不是钱包', '丢失'],
      },
    ],
    [
      'amount_and_fee',
      {
        en: ['Balance too low', 'Missing: 0.500000000000000001 ETH'],
        es: ['Saldo insuficiente', 'Faltan 0,500000000000000001 ETH'],
        'zh-CN': ['余额不足', '还差：0.500000000000000001 ETH'],
      },
    ],
    [
      'contract_gas_too_high',
      {
        en: ['Recipient’s contract needs over 100,000 gas', 'Ask for another address'],
        es: ['El contrato del destinatario necesita más de 100.000 de gas', 'Pide otra dirección'],
        'zh-CN': ['收款方的合约需要超过 100,000 gas', '请索取其他地址'],
      },
    ],
  ])('%s reaches the payer with reason and figure in three languages', (code, texts) => {
    const problem =
      refusals.find((refusal) => refusal.code === code)?.problem ??
      expect.fail(`no sample of ${code}`)
    for (const language of Object.keys(languages) as Language[]) {
      i18n.activate(language, languages[language])
      const { title, body, fields } = pages[mode](answerOf(problem))
      expect({ language, title, body }).toEqual({
        language,
        title: texts[language][0],
        body: expect.stringContaining(texts[language][1]),
      })
      expect(fields).toBeUndefined()
    }
  })

  test('no reason falls back to the service’s sentence, leaves a hole or stays in English', () => {
    for (const { code, problem } of refusals) {
      const said = (Object.keys(languages) as Language[]).map((language) => {
        i18n.activate(language, languages[language])
        const { title, body } = pages[mode](answerOf(problem))
        expect(`${title} ${body}`, code).not.toMatch(/undefined|[{}]|\[object/)
        expect(body, code).not.toContain(problem.message)
        return body
      })
      expect(new Set(said).size, code).toBe(3)
      expect(said[0], code).toMatch(/Nothing was sent\.$/)
      for (const sentence of said[0]?.split(/(?<=[.])\s/) ?? [])
        expect(sentence.split(/\s+/).length, sentence).toBeLessThanOrEqual(18)
    }
  })

  test('a limit is told at its field, with the figure, in three languages', () => {
    const problem = limitProblem(limitSamples.amount_below_minimum)
    const fields = (Object.keys(languages) as Language[]).map((language) => {
      i18n.activate(language, languages[language])
      return pages[mode](answerOf(problem)).fields
    })
    expect(fields).toEqual([
      { amount: 'Enter at least 0.001 ETH.' },
      { amount: 'Escribe 0,001 ETH como mínimo.' },
      { amount: '请输入不低于 0.001 ETH 的数值。' },
    ])
    expect(
      pages[mode](answerOf(limitProblem(limitSamples.priority_fee_above_maximum))).fields,
    ).toEqual({ priorityFee: '请输入不超过 0.001 ETH 的数值。' })
  })

  test('a reason that this page does not know is told by its code, without the service’s sentence', () => {
    const problem = new ProblemError('INVALID_RECIPIENT', {
      message: 'A sentence of the service.',
      reason: { code: 'new_code', params: {} },
      details: { recipientAddress: 'Received "x".' },
    })
    const userError = pages[mode](answerOf(problem))
    expect(userError.title).toBe('Recipient cannot be paid')
    expect(JSON.stringify(userError)).not.toMatch(/A sentence of the service|Received/)
  })
})

test('what a contract answered cannot hide or reorder text', () => {
  const reason = { code: 'contract_reverts', params: { answer: 'a\u202eb\u200bc' } } as const
  expect(
    paymentService.explain(answerOf(recipientProblem(reason, { received: RECIPIENT }))).body,
  ).toContain('“abc”')
})
