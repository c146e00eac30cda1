CREATE TABLE "service"."wallet_books" (
	"network" text NOT NULL,
	"address" text NOT NULL,
	"height" bigint,
	"balance" numeric(78,0),
	"nonce" bigint,
	"received" numeric(78,0) NOT NULL,
	"checked_at" timestamp (3) with time zone NOT NULL,
	"stopped_at" timestamp (3) with time zone,
	"stop_reason" text,
	CONSTRAINT "wallet_books_network_address_pk" PRIMARY KEY("network","address")
);
