const { PAYDESK_URL = '', PAYDESK_KEY = '' } = process.env

/** The last event that was processed. Keep it in your database, written in the commit that processes the event. */
let last: string | undefined

function listen(): void {
  const socket = new WebSocket(`${PAYDESK_URL.replace(/^http/, 'ws')}/ws`)
  const send = (request: object) => socket.send(JSON.stringify(request))
  socket.addEventListener('open', () => send({ method: 'authenticate', apiKey: PAYDESK_KEY }))
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data))
    if (message.type === 'authenticated')
      send({ method: 'subscribe', keys: ['payments'], since: last })
    if (message.type === 'subscribed') {
      last ??= message.lastEventId
      console.log('subscribed')
    }
    if (message.type === 'payment') {
      console.log(message.paymentId, message.status, message.amount, message.symbol)
      last = message.id
    }
    if (message.type === 'error') console.log(message.code, message.message)
  })
  // Resumes after the last event, so none is missed and none is processed twice.
  socket.addEventListener('close', () => setTimeout(listen, 1_000))
}

listen()
